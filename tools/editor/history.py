"""What files were before they were edited, kept on disk so that undo works after a resume."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from ...state.errors import ToolFailure
from ..workspace import Workspace

FOLDER = "undo"
"""Folder, inside the workspace's private one, of the history."""

MOST_EDITS = 50
"""Edits of one file that can be undone."""


@dataclass(frozen=True)
class History:
    """Undo history of one file.

    `NUMBER-DIGEST.before` holds its content before an edit, `.absent` stands for a file that was not there. DIGEST is
    that of the content after the edit, so that an undo never throws away what something else wrote since.
    """

    folder: Path

    @classmethod
    def of(cls, workspace: Workspace, file: Path) -> History:
        """History of `file`; its folder is created."""
        key = hashlib.sha256(workspace.name(file).encode(errors="surrogateescape")).hexdigest()[:16]
        return cls(workspace.private(FOLDER, key, "edits").parent)

    def push(self, before: bytes | None, after: bytes) -> None:
        """Keep `before`, None for a file that was not there, of an edit that will write `after`."""
        edits = self._edits()
        number = int(edits[-1].name.partition("-")[0]) + 1 if edits else 1
        suffix = "absent" if before is None else "before"
        write_atomically(self.folder / f"{number:06}-{_digest(after)}.{suffix}", before or b"")
        for edit in edits[: max(0, len(edits) + 1 - MOST_EDITS)]:
            edit.unlink()

    def undo(self, file: Path) -> bool:
        """Take back the newest edit of `file`; whether the file is still there.

        Raises:
            ToolFailure: nothing is left to undo, or the file was changed since by something else.
        """
        current = file.read_bytes() if file.exists() else None
        edits = self._edits()
        while edits and self._never_happened(edits[-1], current):
            edits.pop().unlink()
        if not edits:
            raise ToolFailure("There is no edit of this file left to undo.")
        edit = edits[-1]
        if current is None or _digest(current) != edit.stem.partition("-")[2]:
            raise ToolFailure("The file was changed since its last edit, and an undo would lose that; edit it instead.")
        if edit.suffix == ".absent":
            file.unlink()
        else:
            write_atomically(file, edit.read_bytes())
        edit.unlink()
        return file.exists()

    def _never_happened(self, edit: Path, current: bytes | None) -> bool:
        # The process died between keeping the old content and writing the new one.
        before = None if edit.suffix == ".absent" else edit.read_bytes()
        return current == before

    def _edits(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.suffix in (".before", ".absent"))


def write_atomically(file: Path, content: bytes) -> None:
    """Write a whole file, or leave it as it was; its permissions and owner stay."""
    temporary = file.with_name(f".{file.name[:200]}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if file.exists():
            status = file.stat()
            os.chown(temporary, status.st_uid, status.st_gid)
            temporary.chmod(status.st_mode & 0o7777)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
