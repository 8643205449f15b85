"""Threads on their way: out to a file, in from one, and off from another thread."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..checkpoints.export import import_thread
from ..checkpoints.fork import fork_thread
from ..state.thread import ThreadRecord
from .session import Session


async def fork_to(session: Session, record: ThreadRecord, checkpoint: str, target: str) -> ThreadRecord:
    """Begin a new thread at a checkpoint of another, which stays as it is; both work in the same folder.

    Raises:
        UsageError: there is no such checkpoint, or the new thread exists.
    """
    await fork_thread(session.saver, record.thread, target, checkpoint)
    return await _arrived(session, target)


async def import_from(session: Session, file: Path, target: str | None = None) -> ThreadRecord:
    """Read a thread from a file, under its own id or another.

    Where its workspace is not on this machine, it gets the folder that a thread of that id begins with here.

    Raises:
        UsageError: the file cannot be read, is no export, or the thread exists.
        CheckpointError: the file is cut short, or encrypted with another key; nothing is imported.
    """
    return await _arrived(session, await import_thread(session.saver, file, target))


async def _arrived(session: Session, thread: str) -> ThreadRecord:
    """The record of a thread that no process ever ran: it is paused, not interrupted."""
    record = await session.registry.get(thread)
    workspace = record.workspace
    if workspace is None or not await asyncio.to_thread(Path(workspace).is_dir):
        workspace = str(session.settings.workspace_of(thread))
    record = record.model_copy(update={"paused": True, "workspace": workspace})
    await session.registry.put(record)
    return record
