"""The store of the plan library in a SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import aiosqlite
from langgraph.store.base import Op, Result
from langgraph.store.sqlite.aio import AsyncSqliteStore

from .sqlite_errors import primary_code, sqlite_sentences

PLAN_LAYOUT = len(AsyncSqliteStore.MIGRATIONS)
"""Layout that the store brings a file to."""


class SqlitePlanStore(AsyncSqliteStore):
    """LangGraph's store, whose errors are those of our family."""

    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        super().__init__(connection)
        self._path = str(path)

    async def setup(self) -> None:
        """Make the tables that are missing.

        Raises:
            CheckpointError: the file cannot be read or written.
        """
        with store_sentences(self._path):
            await super().setup()

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out some operations, all or none.

        Raises:
            CheckpointError: the file cannot be read or written.
        """
        with store_sentences(self._path):
            try:
                return await super().abatch(ops)
            except BaseException:
                # A COMMIT that failed leaves its transaction open, and the next operation could not begin one.
                if self.conn.in_transaction:
                    await self.conn.rollback()
                raise


@asynccontextmanager
async def open_plan_store(path: Path, patience: float) -> AsyncIterator[SqlitePlanStore]:
    """Open the store in a file that is there, and close it at the end; its tables may be missing.

    Raises:
        CheckpointError: the file cannot be opened.
    """
    with sqlite_sentences(str(path)):
        connection = await aiosqlite.connect(path, isolation_level=None, timeout=patience)
    try:
        yield SqlitePlanStore(connection, path)
    finally:
        await connection.close()


def plan_layout(connection: sqlite3.Connection) -> int:
    """The layout of the store in a file; 0 for none. A store of layout `PLAN_LAYOUT` is opened without writing."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'store_migrations'").fetchall():
        return 0
    count: int = connection.execute("SELECT coalesce(max(v) + 1, 0) FROM store_migrations").fetchone()[0]
    return count


@contextmanager
def store_sentences(path: str) -> Iterator[None]:
    """`sqlite_sentences` for the store, which hides SQLite's error behind others of its own making."""
    with sqlite_sentences(path):
        try:
            yield
        except (ValueError, sqlite3.Error) as error:
            raise _root(error) from error


def _root(error: BaseException) -> BaseException:
    # The first error of a chain says what happened: a COMMIT after it fails only because SQLite has rolled back.
    earlier = error.__cause__ or error.__context__
    found = _root(earlier) if earlier else None
    return found if isinstance(found, sqlite3.Error) and primary_code(found) is not None else error
