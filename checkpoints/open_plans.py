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

from langgraph.checkpoint.serde.base import SerializerProtocol

from ..state.errors import CheckpointError
from ..state.secrets import known_secrets
from .encryption import KEY_VARIABLE, check_key
from .open import DEFAULT_DATABASE, PATIENCE, is_postgres, open_saver, sqlite_path
from .plans import Exclusive, PlanEntry, PlanLibrary, one_task_at_a_time
from .schema import prepare
from .serializer import Protection, protection
from .sqlite_database import SqliteDatabase
from .sqlite_errors import sqlite_sentences
from .sqlite_plans import PLAN_LAYOUT, open_plan_store, plan_layout


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
    guarded = _protection(secrets, key)
    layout = await _prepare_database(path, guarded.serde, patience)
    exclusive = _file_lock(path, patience)
    async with open_plan_store(path, patience) as store:
        if layout < PLAN_LAYOUT:
            async with exclusive():
                await store.setup()
        yield PlanLibrary(store, serde=guarded.serde, exclusive=exclusive)


async def list_plans(
    url: str | Path | None = None,
    *,
    secrets: Iterable[str] | None = None,
    key: str | None = None,
    patience: float = PATIENCE,
) -> list[PlanEntry]:
    """The plans of a database, the one published last first; nothing is made where there is no library yet.

    Takes and raises what `open_plan_library` does.
    """
    place = str(url or DEFAULT_DATABASE)
    if not is_postgres(place) and not await _has_library(sqlite_path(place), secrets, key, patience):
        return []
    async with open_plan_library(url, secrets=secrets, key=key, patience=patience) as library:
        return await library.list()


@asynccontextmanager
async def _open_postgres(
    url: str, secrets: Iterable[str] | None, key: str | None, patience: float
) -> AsyncIterator[PlanLibrary]:
    # Opening the saver makes the tables by which the next one knows the database, and looks at the key.
    async with open_saver(url, secrets=secrets, key=key) as saver:
        from .postgres_plans import postgres_plan_library

        yield await postgres_plan_library(saver, patience=patience)


async def _has_library(path: Path, secrets: Iterable[str] | None, key: str | None, patience: float) -> bool:
    if not await asyncio.to_thread(path.exists):
        return False
    return await _prepare_database(path, _protection(secrets, key).serde, patience) > 0


def _protection(secrets: Iterable[str] | None, key: str | None) -> Protection:
    return protection(known_secrets() if secrets is None else secrets, key or os.environ.get(KEY_VARIABLE))


async def _prepare_database(path: Path, serde: SerializerProtocol, patience: float) -> int:
    # The file is one of ours whoever comes first: for this user alone, in WAL mode, and with the tables by which a
    # saver knows it.
    database = await asyncio.to_thread(SqliteDatabase, path, prepare, in_thread=True, patience=patience)
    try:
        await check_key(database, serde)
        return await database.arun(plan_layout)
    finally:
        await asyncio.to_thread(database.close)


def _file_lock(path: Path, patience: float) -> Exclusive:
    # A lock of the kernel, which a process that dies lets go of. The tasks of this process keep each other out by a
    # turn of their own.
    lock, turn = Path(f"{path}.plans-lock"), one_task_at_a_time()

    @asynccontextmanager
    async def exclusive() -> AsyncIterator[None]:
        async with turn():
            descriptor = await _locked(lock, patience)
            try:
                yield
            finally:
                os.close(descriptor)

    return exclusive


async def _locked(path: Path, patience: float) -> int:
    with sqlite_sentences(str(path)):
        descriptor = await asyncio.to_thread(os.open, path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        await _lock(descriptor, path, patience)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


async def _lock(descriptor: int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise CheckpointError(f"{path} is locked by another process: try again when that has ended.") from error
        await asyncio.sleep(random.uniform(0.001, 0.01))
