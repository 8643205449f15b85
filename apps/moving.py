"""Threads on their way: out to a file, in from one, and off from another thread."""

from __future__ import annotations

from pathlib import Path

from ..checkpoints.arrival import Settle
from ..checkpoints.export import import_thread
from ..checkpoints.fork import fork_thread
from ..state.errors import UsageError
from ..state.thread import ThreadRecord
from .session import Session


async def fork_to(session: Session, record: ThreadRecord, checkpoint: str, target: str) -> ThreadRecord:
    """Begin a new thread at a checkpoint of another, which stays as it is; both work in the same folder.

    Raises:
        UsageError: there is no such checkpoint, or the new thread exists.
        ThreadBusy: another process is making a thread of that id.
    """
    await fork_thread(session.saver, record.thread, target, checkpoint, settle=_settle(session))
    return await session.registry.get(target)


async def import_from(session: Session, file: Path, target: str | None = None) -> ThreadRecord:
    """Read a thread from a file, under its own id or another.

    Where its workspace is not on this machine, it gets the folder that a thread of that id begins with here.

    Raises:
        UsageError: the file cannot be read, is no export, or the thread exists or has no record.
        CheckpointError: the file is cut short, damaged, or encrypted with another key; nothing is imported.
        ThreadBusy: another process is making a thread of that id.
    """
    return await session.registry.get(await import_thread(session.saver, file, target, settle=_settle(session)))


def _settle(session: Session) -> Settle:
    def settled(record: ThreadRecord | None) -> ThreadRecord:
        """The record of a thread that no process ever ran: it is paused, not interrupted."""
        if record is None:
            raise UsageError(
                "the thread has no record of how it was begun, so clew cannot run it: read it with import_thread, for"
                " the graph that made it"
            )
        workspace = record.workspace
        if workspace is None or not Path(workspace).is_dir():
            workspace = str(session.settings.workspace_of(record.thread))
        return record.model_copy(update={"paused": True, "workspace": workspace})

    return settled
