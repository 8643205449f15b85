"""Small PDF files, written by hand."""

from __future__ import annotations


def pdf(*pages: str, title: str = "") -> bytes:
    """A PDF file with these lines, one a page."""
    numbers = [5 + 2 * place for place in range(len(pages))]
    objects = [
        (1, "<</Type/Catalog/Pages 2 0 R>>"),
        (2, f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{number} 0 R' for number in numbers)}]>>"),
        (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"),
        (4, f"<</Title({title})>>"),
    ]
    for number, text in zip(numbers, pages, strict=True):
        drawing = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else ""
        resources = "/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
        objects.append((number, f"<</Type/Page/Parent 2 0 R{resources}/Contents {number + 1} 0 R>>"))
        objects.append((number + 1, f"<</Length {len(drawing)}>>stream\n{drawing}\nendstream"))
    return _file(objects)


def _file(objects: list[tuple[int, str]]) -> bytes:
    data = "%PDF-1.4\n"
    table = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    for number, body in sorted(objects):
        table += f"{len(data):010} 00000 n \n"
        data += f"{number} 0 obj\n{body}\nendobj\n"
    trailer = f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R/Info 4 0 R>>\nstartxref\n{len(data)}\n%%EOF\n"
    return (data + table + trailer).encode("latin-1")
