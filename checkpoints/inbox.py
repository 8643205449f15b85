"""The control inbox: what a person asks of a run from outside. It stands beside the checkpoints.

A row is never changed. The state of a run says up to which number it acted on its rows, in the update in which it did:
so each is acted on once, whatever crashes in between.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, cast

from .durable import DurableSaver
from .unreadable import stored_value, values_of

OrderKind = Literal["pause", "stop", "say"]

_SEND = """INSERT INTO inbox (thread, number, kind, sent, type, text)
    SELECT ?, CASE WHEN MAX(number) >= CAST(? AS BIGINT) THEN MAX(number) + 1 ELSE CAST(? AS BIGINT) END, ?, ?, ?, ?
    FROM inbox WHERE thread = ?"""
_READ = "SELECT number, kind, type, text FROM inbox WHERE thread = ? AND number > ? ORDER BY number"
_STOP = "SELECT MAX(number) FROM inbox WHERE thread = ? AND number > ? AND kind = 'stop'"
_FORGET_ORDERS = "DELETE FROM inbox WHERE thread = ? AND kind <> 'say'"
FORGET_INBOX = "DELETE FROM inbox WHERE thread = ?"
"""Drops the rows of a thread that is deleted or set back."""


def inbox_table(bytes_type: str) -> str:
    """The layout of the inbox; `bytes_type` is the database's type for bytes."""
    return f"""CREATE TABLE IF NOT EXISTS inbox (
        thread TEXT NOT NULL,
        number BIGINT NOT NULL,
        kind TEXT NOT NULL,
        sent TEXT NOT NULL,
        type TEXT NOT NULL,
        text {bytes_type} NOT NULL,
        PRIMARY KEY (thread, number)
    )"""


class Order(NamedTuple):
    """One row of the inbox."""

    number: int
    """Place among the rows of its thread: a later one has a higher number."""

    kind: OrderKind
    """What is asked for."""

    text: str
    """What is said."""


class Inbox:
    """The inbox in the database of a saver."""

    def __init__(self, saver: DurableSaver) -> None:
        self._database = saver.database
        self._serde = saver.serde

    async def send(self, thread: str, kind: OrderKind, text: str = "", *, after: int = 0) -> None:
        """Ask something of whoever runs the thread, or will.

        Numbers are microseconds since 1970, so that they rise also in a copy of a thread, which has no rows.

        Args:
            thread: Id of the thread.
            kind: What is asked for.
            text: What is said.
            after: The highest number that the thread has acted on.

        Raises:
            CheckpointError: the database cannot be written.
        """
        number = max(time.time_ns() // 1000, after + 1)
        values = self._serde.dumps_typed(text)
        sent = datetime.now(UTC).isoformat()
        await self._database.write((_SEND, (thread, number, number, kind, sent, *values, thread)))

    async def read(self, thread: str, after: int) -> list[Order]:
        """The rows of a thread with a number above `after`, in order."""
        with values_of(thread):
            return [self._order(*row) for row in await self._database.fetch(_READ, (thread, after))]

    async def stop_after(self, thread: str, after: int) -> int:
        """The number of the newest stop above `after`; 0 if there is none."""
        ((number,),) = await self._database.fetch(_STOP, (thread, after))
        return int(number or 0)

    async def clear_orders(self, thread: str) -> None:
        """Forget what was asked of a task that has ended; what was said is kept for the next one."""
        await self._database.write((_FORGET_ORDERS, (thread,)))

    async def clear(self, thread: str) -> None:
        """Forget all rows of a thread: it is set back to where it had not heard of them."""
        await self._database.write((FORGET_INBOX, (thread,)))

    def _order(self, number: int, kind: str, type: str, text: Any) -> Order:
        return Order(number, cast(OrderKind, kind), str(stored_value(self._serde, type, text)))
