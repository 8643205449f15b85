"""The layout of a PostgreSQL database of checkpoints: LangGraph's tables and ours, in one schema."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ..state.errors import CheckpointError
from .blobs import blob_tables
from .inbox import inbox_table
from .journal import journal_table
from .postgres_database import Connection, Pool

VERSION = 3
"""Layout that this code reads and writes; kept as the comment of the table `facts`."""

_LOCK = 0x636C6577
"""Number of the advisory lock that keeps two processes from making the tables at once."""

_TABLES = (
    "ALTER TABLE checkpoint_writes ADD COLUMN IF NOT EXISTS run_id TEXT",
    "CREATE INDEX IF NOT EXISTS checkpoints_by_run ON checkpoints ((metadata ->> 'run_id'))",
    "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, type TEXT NOT NULL, value BYTEA NOT NULL)",
    """CREATE TABLE IF NOT EXISTS threads (
        thread TEXT PRIMARY KEY, updated TEXT NOT NULL, type TEXT NOT NULL, record BYTEA NOT NULL
    )""",
    """CREATE TABLE IF NOT EXISTS leases (
        thread TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        owner TEXT NOT NULL,
        host TEXT NOT NULL,
        pid BIGINT NOT NULL,
        started TEXT NOT NULL,
        heartbeat BIGINT NOT NULL
    )""",
    journal_table("BYTEA"),
    inbox_table("BYTEA"),
    *blob_tables("BYTEA"),
    f"COMMENT ON TABLE facts IS '{VERSION}'",
)

_LAYOUT = "SELECT obj_description(to_regclass('facts'), 'pg_class') AS layout"


async def prepare(pool: Pool, make_stock_tables: Callable[[], Awaitable[None]]) -> None:
    """Bring the database to layout `VERSION`; `make_stock_tables` makes those of LangGraph's saver.

    Raises:
        CheckpointError: the database has a layout that is newer than this code.
    """
    async with pool.connection() as connection:
        if await _layout(connection) == VERSION:
            return
        await _take_turn(connection)
        try:
            if await _layout(connection) != VERSION:
                await make_stock_tables()
                async with connection.transaction():
                    for statement in _TABLES:
                        await connection.execute(statement.encode())
        finally:
            await _flag(connection, f"SELECT pg_advisory_unlock({_LOCK}) AS flag")


async def _take_turn(connection: Connection) -> None:
    # Waiting within a statement would hold a snapshot, which the index that the other one builds waits for.
    taken = False
    while not taken:
        taken = await _flag(connection, f"SELECT pg_try_advisory_lock({_LOCK}) AS flag")
        await asyncio.sleep(0 if taken else 0.05)


async def _layout(connection: Connection) -> int:
    row = await (await connection.execute(_LAYOUT)).fetchone()
    found = int(row["layout"]) if row and row["layout"] else 0
    if found > VERSION:
        raise CheckpointError(f"the database has layout {found} and this clew knows {VERSION}: upgrade clew")
    return found


async def _flag(connection: Connection, query: str) -> bool:
    row = await (await connection.execute(query.encode())).fetchone()
    return bool(row and row["flag"])
