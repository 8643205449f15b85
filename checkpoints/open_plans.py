"""Opening the plan library, in a SQLite file or a PostgreSQL database."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.store.sqlite.aio import AsyncSqliteStore

from ..state.errors import CheckpointError
from .encryption import KEY_VARIABLE, check_key
from .open import DEFAULT_DATABASE, PATIENCE, is_postgres, open_saver, sqlite_path
from .plans import Exclusive, PlanLibrary, one_task_at_a_time
from .redact import known_secrets
from .schema import prepare
from .serializer import protection
from .sqlite_database import SqliteDatabase


@asynccontextmanager
async def open_plan_library(
    url: str | Path | None = None,
    *,
    secrets: Iterable[str] | None = None,
    key: str | None = None,
    patience: float = PATIENCE,
) -> AsyncIterator[PlanLibrary]:
    """Open the library in a database, which may be the one of the checkpoints, and close it at the end.

    Args:
        url: as for `open_saver`; None for the same default.
        secrets: as for `open_saver`: values that must not be stored; None for those that the environment names.
        key: as for `open_saver`: encrypts every entry; None for `CLEW_ENCRYPTION_KEY`.
        patience: seconds for which another process may keep the library.

    Raises:
        UsageError: the URL is of a kind that clew does not know, or the key cannot be used.
        CheckpointError: it cannot be opened, the key is not its own, or another process does not let go of it.
    """
    place = str(url or DEFAULT_DATABASE)
    if is_postgres(place):
        async with _open_postgres(place, secrets, key, patience) as library:
            yield library
        return
    path = sqlite_path(place)
    guarded = protection(known_secrets() if secrets is None else secrets, key or os.environ.get(KEY_VARIABLE))
    await _prepare_database(path, guarded.serde, patience)
    async with _file_lock(Path(f"{path}.plans-lock"), patience) as exclusive, _open_store(path, patience) as store:
        async with exclusive():
            await store.setup()
        yield PlanLibrary(store, serde=guarded.serde, exclusive=exclusive)


@asynccontextmanager
async def _open_postgres(
    url: str, secrets: Iterable[str] | None, key: str | None, patience: float
) -> AsyncIterator[PlanLibrary]:
    # Opening the saver makes the tables by which the next one knows the database, and looks at the key.
    async with open_saver(url, secrets=secrets, key=key) as saver:
        from .postgres_plans import postgres_plan_library

        yield await postgres_plan_library(saver, patience=patience)


async def _prepare_database(path: Path, serde: SerializerProtocol, patience: float) -> None:
    # The file is one of ours whoever comes first: for this user alone, in WAL mode, and with the tables by which a
    # saver knows it.
    database = await asyncio.to_thread(SqliteDatabase, path, in_thread=True, patience=patience)
    try:
        await database.arun(prepare)
        await check_key(database, serde)
    finally:
        await asyncio.to_thread(database.close)


@asynccontextmanager
async def _open_store(path: Path, patience: float) -> AsyncIterator[AsyncSqliteStore]:
    async with aiosqlite.connect(path, isolation_level=None, timeout=patience) as connection:
        yield AsyncSqliteStore(connection)


@asynccontextmanager
async def _file_lock(path: Path, patience: float) -> AsyncIterator[Exclusive]:
    # A lock of the kernel, which a process that dies lets go of. It belongs to the open file, so the tasks of this
    # process, which share that, keep each other out by a turn of their own.
    descriptor = await asyncio.to_thread(os.open, path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    turn = one_task_at_a_time()

    @asynccontextmanager
    async def exclusive() -> AsyncIterator[None]:
        async with turn():
            await _lock(descriptor, path, patience)
            try:
                yield
            finally:
                fcntl.flock(descriptor, fcntl.LOCK_UN)

    try:
        yield exclusive
    finally:
        os.close(descriptor)


async def _lock(descriptor: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise CheckpointError(f"{path} is locked by another process: try again when that has ended.") from error
        await asyncio.sleep(random.uniform(0.001, 0.01))
