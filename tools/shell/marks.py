"""The marks by which the end of a command is found in the output of a shell."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from typing import NamedTuple

FRAME = b"\x1e"
"""Opens and closes a mark: ASCII's record separator."""


class Mark(NamedTuple):
    """End of one command."""

    number: int
    """Which command of the session; a late mark has a smaller one than the command that runs."""

    exit_code: int
    """What the shell's `$?` was."""


class MarkReader:
    """Splits the output of one session into plain output and marks, however the chunks fall.

    The marks carry a token that is secret to the session, so that no output can be taken for one.
    """

    def __init__(self, token: str | None = None) -> None:
        self.token = token or secrets.token_hex(8)
        self._pattern = re.compile(FRAME + self.token.encode() + rb":(\d{1,9}):(\d{1,3})" + FRAME)
        self._longest = len(self.token) + 16
        self._held = b""

    def command(self, number: int, descriptor: int) -> str:
        """Shell line that writes the mark of command `number` to `descriptor`."""
        # In braces, and with standard error away: `set -x` must not show it.
        return rf"{{ printf '\036%s:%d:%d\036' {self.token} {number} $? >&{descriptor}; }} 2>/dev/null"

    def feed(self, chunk: bytes) -> Iterator[bytes | Mark]:
        """Output and marks in `chunk`, in order; what may be the beginning of a mark is held back."""
        data, self._held = self._held + chunk, b""
        place = 0
        for match in self._pattern.finditer(data):
            yield from _filled(data[place : match.start()])
            yield Mark(int(match[1]), int(match[2]))
            place = match.end()
        start = data.rfind(FRAME, max(place, len(data) - self._longest))
        if start >= 0 and self._may_begin(data[start:]):
            data, self._held = data[:start], data[start:]
        yield from _filled(data[place:])

    def rest(self) -> bytes:
        """What was held back, at the end of the output."""
        held, self._held = self._held, b""
        return held

    def _may_begin(self, tail: bytes) -> bool:
        frame = FRAME + self.token.encode() + b":"
        return frame.startswith(tail[: len(frame)]) and len(tail) <= self._longest


def _filled(data: bytes) -> Iterator[bytes]:
    if data:
        yield data
