"""Opening a database of checkpoints."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from pathlib import Path

from typing_extensions import TypedDict

from ..state.errors import UsageError
from ..state.secrets import known_secrets
from .blobs import prepare_blobs
from .channels import STATES, DeltaChannels
from .durable import DurableSaver
from .encryption import KEY_VARIABLE, check_key
from .schema import prepare
from .serializer import Protection, protection
from .sqlite import SqliteCheckpointSaver
from .sqlite_database import IN_MEMORY, SqliteDatabase

DEFAULT_DATABASE = ".clew/clew.db"

PATIENCE = 20.0
"""Seconds for which another process may keep a SQLite file locked."""


class _FileOptions(TypedDict):
    full_sync: bool
    in_thread: bool
    patience: float


@asynccontextmanager
async def open_saver(
    url: str | Path | None = None,
    *,
    states: Iterable[type] = STATES,
    secrets: Iterable[str] | None = None,
    key: str | None = None,
    full_sync: bool = False,
    in_thread: bool = False,
    patience: float = PATIENCE,
) -> AsyncIterator[DurableSaver]:
    """Open the saver of a database, made where it is missing, and close it at the end.

    Args:
        url: a path, `sqlite:///PATH` or `postgresql://…`; None for `.clew/clew.db`.
        states: state schemas whose delta channels pruning must be able to rebuild. A graph of your own adds its, as in
            `[*STATES, MyState]`; threads of graphs that are not known so are left as they are.
        secrets: values that must not be stored; None for those that the environment names as secrets.
        key: encrypts every stored value; None for `CLEW_ENCRYPTION_KEY`, and no encryption where that is not set.
        full_sync: SQLite waits for the disk at each step. Without it a power cut, not a crash, may lose the
            newest steps.
        in_thread: SQLite works in one thread instead of inline; `langgraph dev` needs it.
        patience: seconds to wait for a lock that another process holds on a SQLite file.

    Raises:
        UsageError: the URL is of a kind that clew does not know, or the key cannot be used.
        CheckpointError: the database cannot be opened, or the key is not its own.
    """
    guarded = protection(known_secrets() if secrets is None else secrets, key or os.environ.get(KEY_VARIABLE))
    channels = DeltaChannels(*states)
    place = str(url or DEFAULT_DATABASE)
    opening: AbstractAsyncContextManager[DurableSaver]
    if is_postgres(place):
        opening = _open_postgres(place, guarded, channels)
    else:
        options = _FileOptions(full_sync=full_sync, in_thread=in_thread, patience=patience)
        opening = _open_sqlite(sqlite_path(place), guarded, channels, options)
    async with opening as saver:
        await check_key(saver.database, saver.serde)
        yield saver


@asynccontextmanager
async def _open_sqlite(
    path: Path, guarded: Protection, channels: DeltaChannels, options: _FileOptions
) -> AsyncIterator[SqliteCheckpointSaver]:
    database = SqliteDatabase(path, prepare, **options)
    blob_path = path if str(path) == IN_MEMORY else path.with_name(f"{path.name}-blobs")
    blob_file = SqliteDatabase(blob_path, prepare_blobs, optional=True, **options)
    async with aclosing(blob_file), aclosing(database):
        yield SqliteCheckpointSaver(database, blob_file, protection=guarded, channels=channels)


@asynccontextmanager
async def _open_postgres(url: str, guarded: Protection, channels: DeltaChannels) -> AsyncIterator[DurableSaver]:
    try:
        from .postgres import PostgresCheckpointSaver
        from .postgres_database import open_pool
        from .postgres_schema import prepare as prepare_postgres
    except ImportError as error:
        raise UsageError("postgresql:// needs its driver: pip install 'clew[postgres]'") from error
    async with open_pool(url) as pool:
        saver = PostgresCheckpointSaver(pool, protection=guarded, channels=channels)
        await prepare_postgres(pool, saver.setup)
        yield saver


def is_postgres(url: str) -> bool:
    """Whether the URL names a PostgreSQL database."""
    return url.startswith(("postgresql://", "postgres://"))


def is_missing(url: str | Path) -> bool:
    """Whether the URL names an SQLite file that is not there. It blocks as long as a look at a folder does.

    Raises:
        UsageError: see `sqlite_path`.
    """
    if is_postgres(str(url)):
        return False
    try:
        sqlite_path(url).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:  # opening it will say what is wrong
        return False
    return False


def sqlite_path(url: str | Path) -> Path:
    """The file that a path or a `sqlite:` URL names.

    Raises:
        UsageError: it is a URL of another kind.
    """
    text = str(url)
    if text.startswith("sqlite:///"):
        return Path(text.removeprefix("sqlite:///"))
    if "://" in text:
        raise UsageError(f"no database {text.split('://')[0]}://: give a path, sqlite:///PATH or postgresql://…")
    return Path(url)
