"""How whole threads leave a SQLite database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from langgraph.checkpoint.serde.base import SerializerProtocol

from .address import address
from .journal import PENDING
from .sqlite_database import SqliteDatabase
from .sqlite_reading import WRITES, read_tuple
from .sqlite_retention import thread_nodes
from .thread_packing import RECORD, beginning, stored_call, stored_checkpoint, stored_tasks
from .thread_parts import Part
from .unreadable import UnreadableValue, values_of


class SqliteMoving:
    """See `Moving`. Each call is one piece of work on the connection."""

    def __init__(self, database: SqliteDatabase, serde: SerializerProtocol) -> None:
        self._database = database
        self._serde = serde

    async def send(self, thread: str, take: Callable[[Part], None]) -> None:
        """Give the parts of a thread, read in one transaction."""
        await self._database.arun(partial(_send, serde=self._serde, thread=thread, take=take))


def _send(connection: sqlite3.Connection, serde: SerializerProtocol, thread: str, take: Callable[[Part], None]) -> None:
    with _snapshot(connection), values_of(thread):
        nodes = sorted(thread_nodes(connection, thread), key=lambda node: node.id)
        take(beginning(serde, thread, connection.execute(RECORD, (thread,)).fetchone(), nodes))
        tasks = stored_tasks(serde, connection.execute(WRITES, (thread,)))
        for node in nodes:
            found = read_tuple(connection, serde, address(thread, node.namespace, node.id))
            if found is None:
                raise UnreadableValue("an index that leads elsewhere")
            take(stored_checkpoint(node, found, tasks))
        for row in connection.execute(PENDING, (thread,)):
            take(stored_call(serde, row))


@contextmanager
def _snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """Read all inside from one state of the file. Others may write meanwhile: the first read holds no lock."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
