"""What a command wrote: its head and its tail in memory, the whole of a long one in a file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from .workspace import PRIVATE_FOLDER, Workspace

FOLDER = "outputs"
"""Folder, inside the workspace's private one, of long outputs."""

HEAD_BYTES = 12_000
"""Bytes kept from the beginning of a long output."""

TAIL_BYTES = 12_000
"""Bytes kept from its end."""

FILE_BYTES = 100_000_000
"""Bytes of one output that are saved at most."""


@dataclass
class Output:
    """Collects output of any size in bounded memory.

    Where it is longer than head and tail together, the whole is saved in the file that `place` names, once.
    """

    place: Callable[[], Path]
    """Names the file; called, in a thread, only if one is needed."""

    total: int = 0
    """Bytes written so far."""

    file: Path | None = None
    """Where the whole is; None for a short output."""

    _head: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    @property
    def truncated(self) -> bool:
        """Whether `text` leaves something out."""
        return self.total > HEAD_BYTES + TAIL_BYTES

    async def write(self, data: bytes) -> None:
        """Add `data`."""
        self.total += len(data)
        if self.truncated:
            await asyncio.to_thread(self._save, data)
        room = max(0, HEAD_BYTES - len(self._head))
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[: max(0, len(self._tail) - TAIL_BYTES)]

    def text(self) -> str:
        """The output as text, with the middle of a long one left out. Bytes that are no UTF-8 appear as `\\xNN`."""
        if not self.truncated:
            return decode(bytes(self._head + self._tail))
        missing = self.total - len(self._head) - len(self._tail)
        saved = "the whole" if self.total <= FILE_BYTES else f"the first {FILE_BYTES} bytes"
        note = f"[{missing} bytes are left out here; {saved} is in {output_name(self)}]"
        return f"{decode(bytes(self._head))}\n{note}\n{decode(bytes(self._tail))}"

    def _save(self, data: bytes) -> None:
        if self.file is None:
            self.file = self.place()
            data = bytes(self._head + self._tail) + data
            already = 0
        else:
            already = self.total - len(data)
        with self.file.open("ab") as file:
            file.write(data[: max(0, FILE_BYTES - already)])


def decode(data: bytes) -> str:
    """Text that any model and any database takes: no NUL, and `\\xNN` for what is no UTF-8."""
    return data.decode("utf-8", errors="backslashreplace").replace("\0", "\\x00")


def output_file(workspace: Workspace, tool: str) -> Callable[[], Path]:
    """Names a file for one long output of `tool`."""
    return lambda: workspace.private(FOLDER, f"{tool}-{uuid4().hex[:12]}.log")


def output_name(output: Output) -> str | None:
    """Path, relative to the workspace, of the file that holds the whole; None for a short output."""
    return str(Path(PRIVATE_FOLDER, FOLDER, output.file.name)) if output.file else None
