"""The threads of a database: how each was started, and who runs it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from ..state.errors import UsageError
from ..state.thread import ThreadRecord
from .durable import DurableSaver
from .leases import Holder, find_holder, hold

_PUT = """INSERT INTO threads (thread, updated, type, record) VALUES (?, ?, ?, ?)
    ON CONFLICT (thread) DO UPDATE SET updated = excluded.updated, type = excluded.type, record = excluded.record"""


class ThreadRegistry:
    """The records and leases of threads, in the same database as their checkpoints."""

    def __init__(self, store: DurableSaver) -> None:
        self._store = store
        self._database = store.database

    async def put(self, record: ThreadRecord) -> None:
        """Keep a record, in place of the thread's earlier one; `updated` becomes the present time."""
        record = record.model_copy(update={"updated": datetime.now(UTC)})
        values = self._store.serde.dumps_typed(record.model_dump(mode="json"))
        await self._database.write((_PUT, (record.thread, record.updated.isoformat(), *values)))

    async def get(self, thread: str) -> ThreadRecord:
        """The record of a thread.

        Raises:
            UsageError: there is no such thread.
        """
        rows = await self._database.fetch("SELECT type, record FROM threads WHERE thread = ?", (thread,))
        if not rows:
            raise await self._unknown(thread)
        return self._record(rows[0])

    async def list(self) -> list[ThreadRecord]:
        """All records, the one used last first."""
        rows = await self._database.fetch("SELECT type, record FROM threads ORDER BY updated DESC, thread")
        return [self._record(row) for row in rows]

    async def delete(self, thread: str) -> None:
        """Delete a thread: its record, its checkpoints and its blobs.

        Raises:
            UsageError: there is no such thread.
            ThreadBusy: a live process is running it.
        """
        await self.get(thread)
        async with self.lease(thread, "a deletion"):
            await self._store.adelete_thread(thread)
            await self._database.write(("DELETE FROM threads WHERE thread = ?", (thread,)))

    def lease(self, thread: str, owner: str) -> AbstractAsyncContextManager[None]:
        """The right to run the thread, as an async context manager; `owner` is the name that others are told.

        Raises:
            ThreadBusy: on entering, a live process has it; the message says which.
        """
        return hold(self._database, thread, owner)

    async def holder(self, thread: str) -> Holder | None:
        """Who runs the thread; None if nobody does. A record that says `running` without a holder was interrupted."""
        return await find_holder(self._database, thread)

    def _record(self, row: tuple[Any, ...]) -> ThreadRecord:
        return ThreadRecord.model_validate(self._store.serde.loads_typed((row[0], bytes(row[1]))))

    async def _unknown(self, thread: str) -> UsageError:
        known = [row[0] for row in await self._database.fetch("SELECT thread FROM threads")]
        near = get_close_matches(thread, known, n=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        return UsageError(f"no thread {thread}: {hint}`clew threads` lists them")


def thread_registry(saver: BaseCheckpointSaver[Any]) -> ThreadRegistry:
    """The registry of the database that a saver of `open_saver` has open.

    Raises:
        UsageError: the saver is none of ours.
    """
    if not isinstance(saver, DurableSaver):
        raise UsageError(f"{type(saver).__name__} keeps no threads: open the database with open_saver")
    return ThreadRegistry(saver)
