"""Where tasks and push notifications are kept: beside the checkpoints, on SQLite or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from a2a.auth.user import User
from a2a.server.context import ServerCallContext
from a2a.server.models import TaskModel
from a2a.server.tasks import DatabasePushNotificationConfigStore, DatabaseTaskStore
from a2a.types import ListTasksRequest, Task
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine

from ...state.settings import Settings
from .contexts import UNFINISHED


@dataclass(frozen=True)
class Stores:
    """The tables of one server."""

    engine: AsyncEngine
    """The database."""

    tasks: DatabaseTaskStore
    """The tasks, by owner."""

    pushes: DatabasePushNotificationConfigStore
    """Where callers want to be told of their tasks."""

    async def unfinished(self) -> list[tuple[ServerCallContext, Task]]:
        """The tasks of all owners that are not over, each with its owner's context."""
        async with async_sessionmaker(self.engine)() as session:
            owners = (await session.execute(select(TaskModel.owner).distinct())).scalars().all()
        found = []
        for context in map(owner_context, owners):
            for state in UNFINISHED:
                listed = await self.tasks.list(ListTasksRequest(status=state, page_size=100), context)
                found += [(context, task) for task in listed.tasks]
        return found


class Owner(User):
    """A caller by name."""

    def __init__(self, name: str) -> None:
        self._name = name

    @property
    def is_authenticated(self) -> bool:
        """Always: the server only names owners that it let in before."""
        return True

    @property
    def user_name(self) -> str:
        """Name of the caller."""
        return self._name


def owner_context(owner: str) -> ServerCallContext:
    """The context of a call that the server makes for an owner."""
    return ServerCallContext(user=Owner(owner))


@asynccontextmanager
async def open_stores(settings: Settings) -> AsyncIterator[Stores]:
    """Open the tables, and make them where they are missing."""
    engine = create_async_engine(_url(settings))
    try:
        tasks, pushes = DatabaseTaskStore(engine), DatabasePushNotificationConfigStore(engine)
        await tasks.initialize()
        await pushes.initialize()
        yield Stores(engine, tasks, pushes)
    finally:
        await engine.dispose()


def _url(settings: Settings) -> str:
    database = settings.database
    if database.startswith(("postgresql://", "postgres://")):
        return f"postgresql+psycopg://{database.partition('://')[2]}"
    path = Path(database).absolute().with_suffix(".a2a.db")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Callers' words and tokens are nobody else's business.
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    return f"sqlite+aiosqlite:///{path}"
