"""What a command wrote: the whole of a short output; the head and the tail of a long one, which is kept elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

from .kept_outputs import KeptOutput, keep_output
from .run_services import RunServices
from .workspace import Workspace

HEAD_BYTES = 12_000
"""Bytes shown from the beginning of a long output."""

TAIL_BYTES = 12_000
"""Bytes shown from its end."""

KEPT_BYTES = 20_000_000
"""Bytes of one output that are kept at most."""


@dataclass
class Output:
    """Collects output of any size in bounded memory."""

    total: int = 0
    """Bytes written so far."""

    kept: KeptOutput | None = None
    """Where the whole is; None for a short output."""

    _beginning: bytearray = field(default_factory=bytearray)
    _tail: bytearray = field(default_factory=bytearray)

    @property
    def truncated(self) -> bool:
        """Whether `text` leaves something out."""
        return self.total > HEAD_BYTES + TAIL_BYTES

    def write(self, data: bytes) -> None:
        """Add `data`."""
        self.total += len(data)
        self._beginning += data[: KEPT_BYTES - len(self._beginning)]
        self._tail += data[-TAIL_BYTES:]
        del self._tail[: max(0, len(self._tail) - TAIL_BYTES)]

    async def keep(self, tool: str, workspace: Workspace, services: RunServices) -> None:
        """Keep the whole of a long output, once it is there, as one of that tool.

        Takes and raises what `keep_output` does.
        """
        self.kept = await keep_output(decode(bytes(self._beginning)), tool, workspace, services)

    def text(self) -> str:
        """The output as text, with the middle of a long one left out. Bytes that are no UTF-8 appear as `\\xNN`."""
        if not self.truncated:
            return decode(bytes(self._beginning))
        missing = self.total - HEAD_BYTES - TAIL_BYTES
        saved = "the whole" if self.total <= KEPT_BYTES else f"the first {KEPT_BYTES} bytes"
        where = f"; {saved} is in {self.kept.file}" if self.kept and self.kept.file else ""
        note = f"[{missing} bytes are left out here{where}]"
        return f"{decode(bytes(self._beginning[:HEAD_BYTES]))}\n{note}\n{decode(bytes(self._tail))}"


def decode(data: bytes) -> str:
    """Text that any model and any database takes: no NUL, and `\\xNN` for what is no UTF-8."""
    return data.decode("utf-8", errors="backslashreplace").replace("\0", "\\x00")
