"""The database of commands that begin nothing: they make none."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...checkpoints.open import is_missing
from ...checkpoints.sqlite_database import IN_MEMORY
from ...state.errors import UsageError
from ...state.settings import Settings, load_settings
from ..session import Session, open_session


@asynccontextmanager
async def open_existing(arguments: Namespace, settings: Settings | None = None) -> AsyncIterator[Session]:
    """Open the database as `open_session` does. One that is not there is empty, and is not made.

    Args:
        arguments: of the command; they may name a database.
        settings: with that database; None reads them.

    Raises:
        UsageError: the arguments name a database that is not there, or one of a kind that clew does not know.
        CheckpointError: it cannot be opened.
    """
    settings = settings or load_settings(db=arguments.db)
    refuse_missing(arguments)
    if await asyncio.to_thread(is_missing, settings.database):
        settings = settings.model_copy(update={"db": IN_MEMORY})
    async with open_session(settings) as session:
        yield session


def refuse_missing(arguments: Namespace) -> None:
    """Refuse a database that the arguments name and that is not there.

    Raises:
        UsageError: they name one.
    """
    if arguments.db and is_missing(arguments.db):
        raise UsageError(
            f"there is no database {arguments.db}: check its name, or begin a thread there with `clew run`"
        )
