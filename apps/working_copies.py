"""The copies of long outputs that a thread has in its workspace, and that go with it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from ..tools.kept_outputs import remove_copies
from .session import Session


@dataclass(frozen=True)
class WorkingCopies:
    """What threads that are to be deleted have in their workspaces."""

    payloads: dict[str, set[str]]
    """References of the payloads of each thread."""

    workspaces: dict[str, str]
    """The workspace of each thread of the database that has one."""


async def working_copies(session: Session, threads: Collection[str]) -> WorkingCopies:
    """What some threads have; it is to be asked before they are deleted."""
    payloads = {thread: set(await session.saver.blobs.references(thread)) for thread in threads}
    records = await session.registry.list()
    return WorkingCopies(payloads, {record.thread: record.workspace for record in records if record.workspace})


async def remove_working_copies(session: Session, copies: WorkingCopies, deleted: Collection[str]) -> None:
    """Remove the copies of threads that were deleted, but for those that a thread in the same workspace has too."""
    for thread in deleted:
        workspace, own = copies.workspaces.get(thread), copies.payloads.get(thread, set())
        if workspace is None or not own:
            continue
        beside = [other for other, its in copies.workspaces.items() if its == workspace and other not in deleted]
        shared = {reference for other in beside for reference in await session.saver.blobs.references(other)}
        await asyncio.to_thread(remove_copies, Path(workspace), own - shared)
