"""The place for a thread that is to come: from a file, or from another thread."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from ..state.errors import ThreadBusy
from ..state.thread import ThreadRecord
from .durable import DurableSaver
from .retention import taken
from .thread_packing import EXISTS
from .threads import thread_registry

ARRIVAL = "an import or a fork"
"""Who holds the lease of a thread that is to come."""

Settle = Callable[[ThreadRecord | None], ThreadRecord | None]
"""Fits the record of a thread that is to come to where it comes; it is kept together with the thread."""


@asynccontextmanager
async def arriving(saver: DurableSaver, thread: str) -> AsyncIterator[None]:
    """Hold the place of a thread that is to come.

    SQLite keeps payloads in a file of their own, so they are stored before the thread; where it does not come, they
    are dropped: here, or after a kill when the next thread comes or `clear_abandoned` is called.

    Raises:
        UsageError: there is such a thread.
        ThreadBusy: another process or task is making it.
    """
    await clear_abandoned(saver)
    async with thread_registry(saver).lease(thread, ARRIVAL):
        if await _exists(saver, thread):
            raise taken(thread)
        await saver.blobs.release(thread)
        try:
            yield
        except BaseException:
            if not await _exists(saver, thread):
                await saver.blobs.release(thread)
            raise


async def clear_abandoned(saver: DurableSaver) -> None:
    """Drop the payloads of threads that did not come because a process was killed: it left its lease."""
    for (thread,) in await saver.database.fetch("SELECT thread FROM leases WHERE owner = ?", (ARRIVAL,)):
        with suppress(ThreadBusy):
            async with thread_registry(saver).lease(thread, ARRIVAL):
                if not await _exists(saver, thread):
                    await saver.blobs.release(thread)


async def _exists(saver: DurableSaver, thread: str) -> bool:
    return bool(await saver.database.fetch(EXISTS, (thread, thread)))
