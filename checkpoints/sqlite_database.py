"""One connection to a SQLite file: inline on the event loop, or in one thread of its own."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from .database import Parameters, Row, Statement
from .sqlite_errors import BUSY, primary_code, sqlite_sentences

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]

IN_MEMORY = ":memory:"


class SqliteDatabase:
    """A SQLite file, shared with other processes, used by one thread at a time.

    Work runs inline, in tens of microseconds, because a hop to a thread costs more than the work. A lock that
    another process holds is waited for between short tries, so that the event loop goes on. With `in_thread`
    the async interface runs its work in one thread instead: `langgraph dev` forbids blocking calls on the loop.
    """

    now = "CAST(strftime('%s', 'now') AS INTEGER)"

    def __init__(
        self,
        path: Path | str,
        prepare: Callable[[sqlite3.Connection, str], None] | None = None,
        *,
        optional: bool = False,
        full_sync: bool = False,
        in_thread: bool = False,
        patience: float = 20.0,
    ) -> None:
        """Name the file. The first work opens it, and makes it and its folder, for this user alone, if need be.

        Args:
            path: the file, or `:memory:`.
            prepare: brings a file that was just opened, and is named, to the layout that the work expects.
            optional: `fetch` finds nothing in a missing file, and does not make it.
            full_sync: `synchronous=FULL`: wait for the disk at each commit. Without it a crash of the process
                loses nothing, a power cut may lose the newest commits, and neither damages the file.
            in_thread: run the async interface in one thread.
            patience: seconds to wait for a lock that another process holds.
        """
        self.path = self.name = str(path)
        self._prepare = prepare
        self._optional = optional
        self._full_sync = full_sync
        self._patience = patience
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "clew-sqlite") if in_thread else None

    def _open(self) -> sqlite3.Connection:
        if self.path != IN_MEMORY:
            _create_privately(Path(self.path))
        connection = sqlite3.connect(self.path, timeout=0.05, isolation_level=None, check_same_thread=False)
        connection.text_factory = _text
        try:
            # First what may refuse the file: setting the journal mode would already write to it.
            if self._prepare is not None:
                self._prepare(connection, self.path)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute(f"PRAGMA synchronous={'FULL' if self._full_sync else 'NORMAL'}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _attempt(self, work: Work[Result]) -> Result:
        with self._lock:
            if self._connection is None:
                self._connection = self._open()
            return work(self._connection)

    def run(self, work: Work[Result]) -> Result:
        """Do some work on the connection. It may run again if the file was locked, so it must be repeatable.

        Raises:
            CheckpointError: the file cannot be read or written.
        """
        with sqlite_sentences(self.path):
            waiting = _Waiting(self._patience)
            while True:
                try:
                    return self._attempt(work)
                except sqlite3.OperationalError as error:
                    pause = waiting.pause(error)
                time.sleep(pause)

    async def arun(self, work: Work[Result]) -> Result:
        """`run` without blocking the event loop while another process holds the lock."""
        if self._thread is not None:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self.run, work)
        with sqlite_sentences(self.path):
            waiting = _Waiting(self._patience)
            while True:
                try:
                    return self._attempt(work)
                except sqlite3.OperationalError as error:
                    pause = waiting.pause(error)
                await asyncio.sleep(pause)

    async def fetch(self, query: str, parameters: Parameters = ()) -> list[Row]:
        """Run one query and return all its rows."""
        if self._optional and await self._blocking(self.is_missing):
            return []
        return await self.arun(lambda connection: connection.execute(query, parameters).fetchall())

    async def write(self, *statements: Statement) -> list[int]:
        """Run statements in one transaction and return how many rows each touched."""

        def work(connection: sqlite3.Connection) -> list[int]:
            if len(statements) == 1:
                # SQLite makes a transaction of one statement by itself, in a third of the calls.
                return [connection.execute(*statements[0]).rowcount]
            with transaction(connection):
                return [connection.execute(query, parameters).rowcount for query, parameters in statements]

        return await self.arun(work)

    async def compact(self) -> None:
        """Give the space of what was deleted back to the disk. Other processes wait meanwhile.

        Raises:
            CheckpointError: the file is in use for too long, or the disk has no room for the copy.
        """
        await asyncio.to_thread(self._compact)

    def _compact(self) -> None:
        # A connection of its own: the event loop uses this one meanwhile, and waits for the lock between short tries.
        apart = SqliteDatabase(self.path, patience=self._patience)
        try:
            apart.run(lambda connection: connection.execute("VACUUM").fetchall())
            apart.run(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall())
        finally:
            apart.close()

    def close(self) -> None:
        """Close the connection and end the thread. Closing twice does nothing."""
        if self._thread is not None:
            self._thread.shutdown()
        self._close_connection()

    async def aclose(self) -> None:
        """`close`, async."""
        await self._blocking(self._close_connection)
        if self._thread is not None:
            self._thread.shutdown(wait=False)

    async def _blocking(self, work: Callable[[], Result]) -> Result:
        if self._thread is None:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _close_connection(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()

    def is_missing(self) -> bool:
        """Whether there is no file yet."""
        return self._connection is None and not Path(self.path).exists()


class _Waiting:
    """How long to wait for a lock that another process holds."""

    def __init__(self, patience: float) -> None:
        self._deadline = time.monotonic() + patience

    def pause(self, error: sqlite3.OperationalError) -> float:
        """Seconds until the next try; raises the error where that would not help, or was tried for too long."""
        if primary_code(error) not in BUSY or time.monotonic() > self._deadline:
            raise error
        return random.uniform(0.005, 0.05)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done inside, or nothing of it. Takes the write lock at once, so that no upgrade can fail."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _text(stored: bytes) -> str:
    # One text that the disk has changed must not keep the others from being read.
    return stored.decode(errors="replace")


def _create_privately(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
