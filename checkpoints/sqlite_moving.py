"""How whole threads leave a SQLite database, come to one and multiply."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial

from langgraph.checkpoint.serde.base import SerializerProtocol

from .address import address
from .blobs import share_inline
from .database import Statement
from .durable import DurableSaver
from .journal import PENDING
from .moving import Choice
from .redact import Redactor
from .retention import Node, taken
from .sqlite_database import SqliteDatabase, transaction
from .sqlite_reading import WRITES, read_tuple
from .sqlite_retention import copy_thread, delete_thread, keep_only, thread_nodes
from .sqlite_writing import INSERT_CHECKPOINT, checkpoint_row, insert_writes, write_rows
from .thread_packing import (
    EXISTS,
    RECORD,
    beginning,
    stored_call,
    stored_checkpoint,
    stored_tasks,
    unpacked_call,
    unpacked_checkpoint,
    unpacked_tasks,
)
from .thread_parts import Part
from .unreadable import UnreadableValue, values_of
from .versions import Versions


class SqliteMoving:
    """See `Moving`. Each call is one piece of work on the connection."""

    def __init__(
        self, saver: DurableSaver, database: SqliteDatabase, blob_file: SqliteDatabase, redactor: Redactor
    ) -> None:
        self._saver = saver
        self._database = database
        self._blob_file = blob_file
        self._redactor = redactor

    async def send(self, thread: str, take: Callable[[Part], None]) -> None:
        """Give the parts of a thread, read in one transaction."""
        await self._database.arun(partial(_send, serde=self._saver.serde, thread=thread, take=take))

    async def receive(self, thread: str, parts: Callable[[], Iterable[Part]], *also: Statement) -> None:
        """Make a thread of parts, in one transaction."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                _refuse_existing(connection, thread)
                delete_thread(connection, thread)  # what calls and runs left that ended after the thread was deleted
                versions = Versions(self._saver)
                for part in parts():
                    self._store(connection, thread, part, versions)
                for statement in also:
                    connection.execute(*statement)

        await self._database.arun(work)

    def _store(self, connection: sqlite3.Connection, thread: str, part: Part, versions: Versions) -> None:
        serde = self._saver.serde
        if part["part"] == "call":
            connection.execute(*unpacked_call(serde, thread, part))
        elif part["part"] == "checkpoint":
            row = checkpoint_row(serde, self._redactor, *unpacked_checkpoint(thread, part, versions))
            connection.execute(INSERT_CHECKPOINT, row)
            for config, writes, task, path in unpacked_tasks(thread, part):
                insert_writes(connection, writes, write_rows(serde, config, writes, task, path))

    async def fork(
        self, source: str, target: str, choose: Callable[[Collection[Node]], Choice], *also: Statement
    ) -> None:
        """Make a thread of some checkpoints of another, in one transaction."""

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection), values_of(source):
                choice = choose(thread_nodes(connection, source))
                _refuse_existing(connection, target)
                delete_thread(connection, target)
                # Before the checkpoints, which nobody can refer to yet, and with the source at rest.
                share_inline(self._blob_file, source, target)
                copy_thread(connection, source, target)
                keep_only(connection, self._saver.serde, self._saver.channels, target, *choice)
                for statement in also:
                    connection.execute(*statement)

        await self._database.arun(work)


def _refuse_existing(connection: sqlite3.Connection, thread: str) -> None:
    if connection.execute(EXISTS, (thread, thread)).fetchone():
        raise taken(thread)


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
