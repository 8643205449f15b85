"""What SQLite's errors mean to a person: one sentence each."""

from __future__ import annotations

import sqlite3

from ..state.errors import CheckpointError

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "is locked by another process: try again when that one has finished",
    sqlite3.SQLITE_LOCKED: "is locked by another connection: try again when that one has finished",
    sqlite3.SQLITE_READONLY: "is read-only: give this user write access to the file and its folder",
    sqlite3.SQLITE_PERM: "may not be read: give this user access to the file and its folder",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened: check the path and the access to its folder",
    sqlite3.SQLITE_FULL: "could not grow because the disk is full: free some space, nothing was lost",
    sqlite3.SQLITE_CORRUPT: "is damaged: restore it from a backup or name another database",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, or is damaged: name another database",
    sqlite3.SQLITE_IOERR: "could not be read or written by the disk: check the disk and its free space",
}


def primary_code(error: sqlite3.Error) -> int | None:
    """SQLite's result code without its extension; None for an error of Python's own."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


class sqlite_sentences:
    """Turns the errors that a person can mend into a `CheckpointError`; others are ours and pass."""

    def __init__(self, path: str) -> None:
        """Name the file that the sentences are about."""
        self._path = path

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise the sentence, if there is one for the error."""
        if isinstance(error, OSError):
            sentence: str | None = "cannot be opened: check the path and the access to its folder"
        elif isinstance(error, UnicodeDecodeError):
            # SQLite cites what is damaged, and sqlite3 cannot read the citation.
            sentence = _SENTENCES[sqlite3.SQLITE_CORRUPT]
        else:
            sentence = _SENTENCES.get(primary_code(error) or 0) if isinstance(error, sqlite3.Error) else None
        if sentence is not None:
            raise CheckpointError(f"{self._path} {sentence}") from error
