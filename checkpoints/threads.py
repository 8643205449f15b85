"""The threads of a database: how each was started, and who runs it."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from ..state.errors import ThreadUnreadable, UsageError
from ..state.thread import ThreadRecord
from .database import Statement
from .durable import DurableSaver
from .leases import Holder, find_holder, hold
from .unreadable import stored_value, values_of

_PUT = """INSERT INTO threads (thread, updated, type, record) VALUES (?, ?, ?, ?)
    ON CONFLICT (thread) DO UPDATE SET updated = excluded.updated, type = excluded.type, record = excluded.record"""


class ThreadRegistry:
    """The records and leases of threads, in the same database as their checkpoints."""

    def __init__(self, store: DurableSaver) -> None:
        self._store = store
        self._database = store.database

    async def put(self, record: ThreadRecord) -> None:
        """Keep a record, in place of the thread's earlier one; `updated` becomes the present time."""
        await self._database.write(self.putting(record))

    def putting(self, record: ThreadRecord) -> Statement:
        """The statement by which a transaction does what `put` does."""
        record = record.model_copy(update={"updated": datetime.now(UTC)})
        values = self._store.serde.dumps_typed(record.model_dump(mode="json"))
        return _PUT, (record.thread, record.updated.isoformat(), *values)

    async def get(self, thread: str) -> ThreadRecord:
        """The record of a thread.

        Raises:
            UsageError: there is no such thread.
            ThreadUnreadable: there is, and its record cannot be read.
        """
        if record := await self.find(thread):
            return record
        raise await self._unknown(thread)

    async def find(self, thread: str) -> ThreadRecord | None:
        """The record of a thread; None if it has none.

        Raises:
            ThreadUnreadable: it has one that cannot be read.
        """
        rows = await self._database.fetch("SELECT thread, type, record FROM threads WHERE thread = ?", (thread,))
        return self._record(*rows[0]) if rows else None

    async def names(self) -> set[str]:
        """The ids of all threads that have a record, one that cannot be read included."""
        return {str(thread) for (thread,) in await self._database.fetch("SELECT thread FROM threads")}

    async def list(self) -> list[ThreadRecord]:
        """The records that can be read, the one used last first; `unreadable` tells of the others."""
        return [found for found in await self._all() if isinstance(found, ThreadRecord)]

    async def unreadable(self) -> builtins.list[ThreadUnreadable]:
        """Of each record that cannot be read, why."""
        return [found for found in await self._all() if isinstance(found, ThreadUnreadable)]

    async def delete(self, thread: str) -> None:
        """Delete a thread: its record, its checkpoints and its blobs, readable or not, with a record or without.

        Raises:
            UsageError: there is no such thread.
            ThreadBusy: a live process is running it.
        """
        if thread not in await self.names() and not await self._store.anodes(thread):
            raise await self._unknown(thread)
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

    async def _all(self) -> Sequence[ThreadRecord | ThreadUnreadable]:
        rows = await self._database.fetch("SELECT thread, type, record FROM threads ORDER BY updated DESC, thread")
        found: list[ThreadRecord | ThreadUnreadable] = []
        for row in rows:
            try:
                found.append(self._record(*row))
            except ThreadUnreadable as error:
                found.append(error)
        return found

    def _record(self, thread: str, kind: Any, data: Any) -> ThreadRecord:
        with values_of(thread):
            return ThreadRecord.model_validate(stored_value(self._store.serde, kind, data))

    async def _unknown(self, thread: str) -> UsageError:
        near = get_close_matches(thread, sorted(await self.names()), n=3)
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
