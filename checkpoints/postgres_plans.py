"""The plan library in a PostgreSQL database, beside the checkpoints."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.store.postgres.aio import AsyncPostgresStore

from ..state.errors import CheckpointError
from .durable import DurableSaver
from .plans import Exclusive, PlanLibrary, one_task_at_a_time
from .postgres_database import Connection, PostgresDatabase, postgres_sentences

_LOCK = 0x636C706C
"""Number of the advisory lock that keeps other processes out while one changes plans."""


async def postgres_plan_library(saver: DurableSaver, *, patience: float) -> PlanLibrary:
    """The library in the PostgreSQL database of a saver, over the saver's connections.

    Args:
        saver: of a PostgreSQL database; the caller closes it.
        patience: seconds to wait for another process that changes plans.

    Raises:
        CheckpointError: the database cannot be written, or another process keeps the library for too long.
    """
    database = saver.database
    assert isinstance(database, PostgresDatabase)
    exclusive = _advisory_lock(database, patience)
    store = AsyncPostgresStore(database.pool)
    if not await _is_ready(database):
        with postgres_sentences():
            async with exclusive():
                await store.setup()
    return PlanLibrary(store, serde=saver.serde, exclusive=exclusive)


async def _is_ready(database: PostgresDatabase) -> bool:
    # Setting up a store that is there would take the right to make tables.
    if await database.fetch("SELECT to_regclass('store_migrations') IS NULL") == [(True,)]:
        return False
    newest = await database.fetch("SELECT max(v) FROM store_migrations")
    return newest == [(len(AsyncPostgresStore.MIGRATIONS) - 1,)]


def _advisory_lock(database: PostgresDatabase, patience: float) -> Exclusive:
    # The server lets go of it when the connection of a process that died ends. The tasks of this process take turns,
    # so that they hold one connection of the pool and not one each.
    turn = one_task_at_a_time()

    @asynccontextmanager
    async def exclusive() -> AsyncIterator[None]:
        async with turn(), database.pool.connection() as connection:
            deadline = time.monotonic() + patience
            while not await _asked(connection, "SELECT pg_try_advisory_lock(%s) AS answer"):
                if time.monotonic() > deadline:
                    raise CheckpointError(
                        "the plan library is locked by another process: try again when that has ended."
                    )
                await asyncio.sleep(random.uniform(0.001, 0.01))
            try:
                yield
            finally:
                await _asked(connection, "SELECT pg_advisory_unlock(%s) AS answer")

    return exclusive


async def _asked(connection: Connection, query: str) -> bool:
    row = await (await connection.execute(query.encode(), (_LOCK,))).fetchone()
    return bool(row and row["answer"])
