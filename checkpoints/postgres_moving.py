"""How whole threads leave a PostgreSQL database, come to one and multiply."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from psycopg import errors
from psycopg.rows import tuple_row

from ..state.errors import CheckpointError
from .address import address
from .blobs import SHARE
from .database import Parameters, Row, Statement
from .durable import DurableSaver
from .journal import PENDING
from .moving import Choice
from .postgres_database import Connection, first_line, marked
from .postgres_retention import WRITES, copy_thread, delete_thread, keep_only
from .retention import Node, taken
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
from .unreadable import values_of
from .versions import Versions


class PostgresMoving:
    """See `Moving`."""

    def __init__(self, saver: DurableSaver, moment: Callable[[], AbstractAsyncContextManager[Connection]]) -> None:
        """Move the threads of a saver; `moment` is a transaction of one snapshot, in which its reads take part."""
        self._saver = saver
        self._moment = moment

    async def send(self, thread: str, take: Callable[[Part], None]) -> None:
        """Give the parts of a thread, read in one transaction."""
        saver = self._saver
        async with self._moment() as connection:
            with values_of(thread):
                nodes = sorted(await saver.anodes(thread), key=lambda node: node.id)
                records = await _rows(connection, RECORD, (thread,))
                take(beginning(saver.serde, thread, records[0] if records else None, nodes))
                tasks = stored_tasks(saver.serde, await _rows(connection, WRITES, (thread,)))
                for node in nodes:
                    found = await saver.aget_tuple(address(thread, node.namespace, node.id))
                    assert found is not None
                    take(stored_checkpoint(node, found, tasks))
                for row in await _rows(connection, PENDING, (thread,)):
                    take(stored_call(saver.serde, row))

    async def receive(self, thread: str, parts: Callable[[], Iterable[Part]], *also: Statement) -> None:
        """Make a thread of parts, in one transaction."""
        versions = Versions(self._saver)
        async with self._new(thread) as connection:
            for part in parts():
                await self._store(connection, thread, part, versions)
            await _carry_out(connection, also)

    async def _store(self, connection: Connection, thread: str, part: Part, versions: Versions) -> None:
        if part["part"] == "call":
            await _carry_out(connection, [unpacked_call(self._saver.serde, thread, part)])
        elif part["part"] == "checkpoint":
            before, checkpoint, metadata = unpacked_checkpoint(thread, part, versions)
            await self._saver.aput(before, checkpoint, metadata, checkpoint["channel_versions"])
            for config, writes, task, path in unpacked_tasks(thread, part):
                await self._saver.aput_writes(config, writes, task, path)

    async def fork(
        self, source: str, target: str, choose: Callable[[Collection[Node]], Choice], *also: Statement
    ) -> None:
        """Make a thread of some checkpoints of another, in one transaction."""
        async with self._new(target) as connection:
            with values_of(source):
                choice = choose(await self._saver.anodes(source))
                await _carry_out(connection, [(SHARE, (target, source))])
                await copy_thread(connection, source, target)
                await keep_only(self._saver, connection, target, *choice)
                await _carry_out(connection, also)

    @asynccontextmanager
    async def _new(self, thread: str) -> AsyncIterator[Connection]:
        """A transaction that makes a thread."""
        try:
            async with self._moment() as connection:
                if await _rows(connection, EXISTS, (thread, thread)):
                    raise taken(thread)
                await delete_thread(connection, thread)
                yield connection
        except (errors.UniqueViolation, errors.SerializationFailure) as error:
            raise taken(thread) from error
        except errors.DataError as error:
            raise CheckpointError(
                f"thread {thread} has a value that PostgreSQL cannot store ({first_line(error)}): use SQLite for it"
            ) from error


async def _carry_out(connection: Connection, statements: Iterable[Statement]) -> None:
    for query, parameters in statements:
        await connection.execute(marked(query), parameters)


async def _rows(connection: Connection, query: str, parameters: Parameters) -> list[Row]:
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(marked(query), parameters)
        return await cursor.fetchall()
