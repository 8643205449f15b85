"""Text of PDF files. Loaded with the first such file: the library takes longer to import than a page to read."""

from __future__ import annotations

import time
from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from ...state.errors import ToolFailure
from .markdown import Document


def read_pdf(content: bytes, seconds: float) -> Document:
    """Title and text of a PDF file; pages that are not reached within `seconds` are left out, with a note. Blocking.

    Raises:
        ToolFailure: the file is broken, needs a password, or has no text.
    """
    try:
        return _read(PdfReader(BytesIO(content)), time.monotonic() + seconds)
    except ToolFailure:
        raise
    except (PyPdfError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # The library checks little of what a file says of itself, and fails in all these ways on a broken one.
        raise ToolFailure(f"the PDF file is broken or needs a password ({error}): use another source") from error


def _read(reader: PdfReader, deadline: float) -> Document:
    texts = []
    for number, page in enumerate(reader.pages, 1):
        if time.monotonic() > deadline:
            texts.append(f"(the pages from {number} on were not read: they take too long)")
            break
        texts.append(page.extract_text().strip())
    if not any(texts):
        raise ToolFailure("the PDF file has no text, only pictures: use another source")
    title = str(reader.metadata.title or "") if reader.metadata else ""
    return Document(" ".join(title.split()), "\n\n".join(filter(None, texts)), [])
