"""The journal of tool calls: none that is not idempotent runs a second time unnoticed.

A call is `started` before it runs and `done`, with its result, after; one that raised an interrupt is `waiting` and may
run again. What a crash left as `started` may or may not have taken effect.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from langchain_core.messages import ToolMessage

from .durable import DurableSaver
from .unreadable import stored_value, values_of

SWEEP_EVERY = 16
"""Checkpoints of which about one drops the entries of those before it: a sweep costs as much as all else at a call."""

_FORGET = "DELETE FROM journal WHERE thread = ? AND namespace = ? AND checkpoint_id < ?"
_BEGIN = """INSERT INTO journal (thread, namespace, checkpoint_id, task, call, status) VALUES (?, ?, ?, ?, ?, 'started')
    ON CONFLICT (thread, namespace, task, call) DO UPDATE SET status = 'started' WHERE journal.status = 'waiting'"""
_READ = "SELECT status, type, result FROM journal WHERE thread = ? AND namespace = ? AND task = ? AND call = ?"
_WAIT = "UPDATE journal SET status = 'waiting' WHERE thread = ? AND namespace = ? AND task = ? AND call = ?"
_FINISH = """UPDATE journal SET status = 'done', type = ?, result = ?
    WHERE thread = ? AND namespace = ? AND task = ? AND call = ?"""
FORGET_THREAD = "DELETE FROM journal WHERE thread = ?"
"""Drops the entries of a thread that is deleted."""

FORGET_PRUNED = """DELETE FROM journal WHERE thread = ? AND NOT EXISTS (SELECT 1 FROM checkpoints AS c
    WHERE c.thread_id = journal.thread AND c.checkpoint_ns = journal.namespace
    AND c.checkpoint_id = journal.checkpoint_id)"""
"""Drops the entries of a thread's checkpoints that are gone."""

_COLUMNS = "namespace, checkpoint_id, task, call, status, type, result"
_OF_PENDING = """journal.thread = ? AND EXISTS (SELECT 1 FROM checkpoints AS c
        WHERE c.thread_id = journal.thread AND c.checkpoint_ns = journal.namespace
        AND c.checkpoint_id = journal.checkpoint_id)
    AND NOT EXISTS (SELECT 1 FROM checkpoints AS c
        WHERE c.thread_id = journal.thread AND c.checkpoint_ns = journal.namespace
        AND c.parent_checkpoint_id = journal.checkpoint_id)"""
PENDING = f"SELECT {_COLUMNS} FROM journal WHERE {_OF_PENDING} ORDER BY namespace, task, call"
"""The entries of a thread's calls that no checkpoint has the results of yet."""

COPY_PENDING = f"INSERT INTO journal (thread, {_COLUMNS}) SELECT ?, {_COLUMNS} FROM journal WHERE {_OF_PENDING}"
"""Gives `PENDING` of one thread to another: tasks keep their ids in a copy, and a call may have taken effect."""

RESTORE = f"INSERT INTO journal (thread, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
"""Gives a row of `PENDING` to a thread."""

_CLOSE = "DELETE FROM journal WHERE thread = ? AND namespace = ?"


def journal_table(bytes_type: str) -> str:
    """The layout of the journal; `bytes_type` is the database's type for bytes."""
    return f"""CREATE TABLE IF NOT EXISTS journal (
        thread TEXT NOT NULL,
        namespace TEXT NOT NULL,
        checkpoint_id TEXT NOT NULL,
        task TEXT NOT NULL,
        call TEXT NOT NULL,
        status TEXT NOT NULL,
        type TEXT,
        result {bytes_type},
        PRIMARY KEY (thread, namespace, task, call)
    )"""


class CallKey(NamedTuple):
    """Which call. It is the same after a resume, if checkpoints are written with `durability="sync"`."""

    thread: str
    """Thread of the run."""

    namespace: str
    """Checkpoint namespace of the agent graph within the thread."""

    task: str
    """LangGraph's id of the task that runs the call."""

    call: str
    """Id of the tool call."""


class Entry(NamedTuple):
    """What the journal knows of a call that is about to run."""

    may_run: bool
    """Whether it has not run yet, or only up to an interrupt."""

    result: ToolMessage | None = None
    """Its result, if it ran to its end."""


class Journal:
    """The journal in the database of a saver. Entries of earlier checkpoints are dropped as later ones come."""

    def __init__(self, saver: DurableSaver) -> None:
        self._database = saver.database
        self._serde = saver.serde

    async def begin(self, key: CallKey, checkpoint_id: str) -> Entry:
        """Record the call as started, unless it was before.

        Args:
            key: the call.
            checkpoint_id: the checkpoint that its task runs from.

        Raises:
            CheckpointError: the database cannot be written.
        """
        begun = (key.thread, key.namespace, checkpoint_id, key.task, key.call)
        (fresh,) = await self._database.write((_BEGIN, begun))
        if fresh:
            return Entry(may_run=True)
        ((status, kind, data),) = await self._database.fetch(_READ, key)
        with values_of(key.thread):
            return Entry(may_run=False, result=stored_value(self._serde, kind, data) if status == "done" else None)

    async def wait(self, key: CallKey) -> None:
        """Record that the call raised an interrupt, so that it may run again when that is answered."""
        await self._database.write((_WAIT, key))

    async def finish(self, key: CallKey, checkpoint_id: str, result: ToolMessage) -> None:
        """Record the call as done, with its result; now and then drop the entries of earlier checkpoints."""
        done = (_FINISH, (*self._serde.dumps_typed(result), *key))
        if crc32(checkpoint_id.encode()) % SWEEP_EVERY:
            await self._database.write(done)
        else:
            await self._database.write((_FORGET, (key.thread, key.namespace, checkpoint_id)), done)

    async def close(self, thread: str, namespace: str) -> None:
        """Drop the entries of an agent graph that has ended."""
        await self._database.write((_CLOSE, (thread, namespace)))
