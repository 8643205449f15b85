"""Bytes of a page as text."""

from __future__ import annotations

import codecs

from bs4.dammit import EncodingDetector

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
"""Encoding of each byte order mark; a mark is stronger than what server and page say (WHATWG Encoding)."""

MEANT = {
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
"""The larger encoding that each label stands for on the web (WHATWG Encoding), by Python's names."""

LONGEST_CHARACTER = 4
"""Bytes of a character of UTF-8."""


def decode(content: bytes, charset: str | None, *, html: bool = False) -> str:
    """Text of `content` in the encoding of its mark, of its server, of its own declaration, or the likeliest."""
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, errors="replace")
    declared = EncodingDetector.find_declared_encoding(content, is_html=html)
    for label in (charset, declared):
        if label and (known := _codec(label)):
            return content.decode(known, errors="replace")
    return content.decode(_guess(content), errors="replace")


def _codec(label: str) -> str | None:
    try:
        # Refuses the codecs of Python that are no encodings of text, such as zlib.
        b" ".decode(label, errors="replace")
    except (LookupError, ValueError):
        return None
    name = codecs.lookup(label).name
    return MEANT.get(name, name)


def _guess(content: bytes) -> str:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        cut_off = error.start > len(content) - LONGEST_CHARACTER and error.end == len(content)
        return "utf-8" if cut_off else "windows-1252"
    return "utf-8"
