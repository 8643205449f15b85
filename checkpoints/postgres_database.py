"""A pool of connections to a PostgreSQL database."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from psycopg import AsyncConnection, IsolationLevel, OperationalError, errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row, tuple_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from ..state.errors import CheckpointError, UsageError
from .database import Parameters, Row, Statement

SCHEMA = "clew"
"""The schema of all tables, so that no other program's tables are touched."""

Connection = AsyncConnection[dict[str, Any]]
Pool = AsyncConnectionPool[Connection]

_TRIES = 20
"""Times that a transaction is begun again because another one changed what it read."""


class PostgresDatabase:
    """A PostgreSQL database, used through a pool."""

    name = "the database"
    now = "CAST(extract(epoch FROM clock_timestamp()) AS BIGINT)"

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def fetch(self, query: str, parameters: Parameters = ()) -> list[Row]:
        """Run one query and return all its rows."""
        with postgres_sentences():
            async with self.pool.connection() as connection, connection.cursor(row_factory=tuple_row) as cursor:
                await cursor.execute(marked(query), parameters)
                return await cursor.fetchall()

    async def write(self, *statements: Statement) -> list[int]:
        """Run statements in one transaction, as if no other ran at the same time; how many rows each touched."""
        with postgres_sentences():
            for _ in range(_TRIES):
                try:
                    return await self._write(statements)
                except (errors.SerializationFailure, errors.DeadlockDetected):
                    await asyncio.sleep(random.uniform(0.0, 0.05))
            raise CheckpointError("the database is too busy: try again, or run fewer threads at once")

    async def _write(self, statements: tuple[Statement, ...]) -> list[int]:
        async with self.pool.connection() as connection:
            await connection.set_isolation_level(IsolationLevel.SERIALIZABLE)
            try:
                async with connection.transaction():
                    return [(await connection.execute(marked(query), values)).rowcount for query, values in statements]
            finally:
                await connection.set_isolation_level(None)


@asynccontextmanager
async def open_pool(url: str) -> AsyncIterator[Pool]:
    """Connect, and close all connections at the end.

    Raises:
        UsageError: the URL is malformed.
        CheckpointError: the server cannot be reached, or refuses.
    """
    try:
        conninfo_to_dict(url)
    except errors.ProgrammingError as error:
        raise UsageError(f"the URL of the database is malformed: {first_line(error)}") from error
    with postgres_sentences():
        async with await AsyncConnection.connect(url, autocommit=True) as connection:
            # To ask for a schema that is there would take the right to make one.
            found = await connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (SCHEMA,))
            if await found.fetchone() == (False,):
                await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    pool: Pool = AsyncConnectionPool(
        url,
        connection_class=AsyncConnection[dict[str, Any]],
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        configure=_configure,
        min_size=1,
        max_size=8,
        open=False,
    )
    async with pool:
        yield pool


async def _configure(connection: Connection) -> None:
    await connection.execute(f"SET search_path TO {SCHEMA}")


@contextmanager
def postgres_sentences() -> Iterator[None]:
    """Turn the errors that a person can mend into a `CheckpointError`; others are ours and pass."""
    try:
        yield
    except errors.DiskFull as error:
        raise CheckpointError("the database's disk is full: free some space, nothing was lost") from error
    except (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction) as error:
        raise CheckpointError(f"the database may not be written: {first_line(error)}") from error
    except (OperationalError, PoolTimeout) as error:
        if isinstance(error, errors.SerializationFailure | errors.DeadlockDetected):
            raise
        raise CheckpointError(f"the database cannot be reached: {first_line(error)}") from error


def marked(query: str) -> bytes:
    """A query whose parameters are marked with `?`, as the driver wants it."""
    return query.replace("?", "%s").encode()


def first_line(error: Exception) -> str:
    """What an error says, without what the server adds."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
