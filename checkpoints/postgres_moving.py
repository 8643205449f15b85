"""How whole threads leave a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from psycopg.rows import tuple_row

from .address import address
from .database import Parameters, Row
from .durable import DurableSaver
from .journal import PENDING
from .postgres_database import Connection, marked
from .postgres_retention import WRITES
from .thread_packing import RECORD, beginning, stored_call, stored_checkpoint, stored_tasks
from .thread_parts import Part
from .unreadable import values_of


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


async def _rows(connection: Connection, query: str, parameters: Parameters) -> list[Row]:
    async with connection.cursor(row_factory=tuple_row) as cursor:
        await cursor.execute(marked(query), parameters)
        return await cursor.fetchall()
