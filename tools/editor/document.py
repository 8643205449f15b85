"""A text file in memory: its text with plain line breaks, and all that is needed to write it back byte for byte."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, zip_longest

from ...state.errors import ToolFailure

LINE_BREAK = re.compile("\r\n|\n")

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 stands before UTF-16, whose mark its own begins with."""

FALLBACK_ENCODINGS = ("utf-8", "cp1252", "latin-1")
"""Encodings that are tried where there is no mark. The last one decodes anything, so every file can be written back."""


@dataclass(frozen=True)
class Document:
    """Text of a file. Tabs and all other characters are as in the file; each line break is `\\n`."""

    text: str
    """The text, without byte order mark."""

    endings: tuple[str, ...]
    """The line break at the end of each line that has one, as it is in the file."""

    encoding: str = "utf-8"
    """Encoding of the file."""

    mark: bytes = b""
    """Byte order mark at the beginning of the file."""

    @property
    def lines(self) -> list[str]:
        """Lines of the text, without their breaks."""
        lines = self.text.split("\n")
        return lines if lines[-1] else lines[:-1]

    def line_at(self, offset: int) -> int:
        """Number, from 1, of the line that the character at `offset` stands in."""
        return self.text.count("\n", 0, offset) + 1

    def offset_of(self, line: int) -> int:
        """Offset at which line `line`, from 1, begins; the end of the text for the line after the last."""
        return min(len(self.text), sum(len(text) + 1 for text in self.lines[: line - 1]))

    def splice(self, start: int, end: int, new: str) -> Document:
        """Put `new` in place of the characters from `start` to `end`.

        The breaks of all other lines stay as they are; the breaks of `new` follow those that they replace, then the
        file's most common one.
        """
        new = plain(new)
        first, removed, added = self.text.count("\n", 0, start), self.text.count("\n", start, end), new.count("\n")
        old = self.endings[first : first + removed]
        usual = Counter(self.endings).most_common(1)[0][0] if self.endings else "\n"
        breaks = (old + (usual,) * added)[:added]
        endings = self.endings[:first] + breaks + self.endings[first + removed :]
        return replace(self, text=self.text[:start] + new + self.text[end:], endings=endings)

    def to_bytes(self) -> bytes:
        """Content of the file.

        Raises:
            ToolFailure: the file's encoding has no way to write a character.
        """
        whole = "".join(chain.from_iterable(zip_longest(self.text.split("\n"), self.endings, fillvalue="")))
        try:
            return self.mark + whole.encode(self.encoding)
        except UnicodeEncodeError as error:
            character = whole[error.start]
            raise ToolFailure(
                f"The file is in {self.encoding}, which has no {character!r}; use characters that it has, "
                "or convert the file first."
            ) from error


def parse(content: bytes) -> Document:
    """Read the content of a file.

    Raises:
        ToolFailure: it is no text.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return _decoded(content[len(mark) :], (encoding,), mark)
    if b"\0" in content:
        raise ToolFailure("The file is binary, not text; look at it with python_execute or bash.")
    return _decoded(content, FALLBACK_ENCODINGS, b"")


def plain(text: str) -> str:
    """`text` with each line break as `\\n`."""
    return text.replace("\r\n", "\n")


def _decoded(content: bytes, encodings: tuple[str, ...], mark: bytes) -> Document:
    for encoding in encodings:
        try:
            whole = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return Document(plain(whole), tuple(LINE_BREAK.findall(whole)), encoding, mark)
    raise ToolFailure(f"The file begins as {encodings[0]} text and is not; look at it with python_execute or bash.")
