"""The plan library: published copies of plans, by id, in a LangGraph store."""

from __future__ import annotations

import asyncio
import os
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.store.base import BaseStore
from pydantic import BaseModel, ConfigDict, Field

from ..state.errors import CheckpointError, PlanError
from ..state.plan import Plan
from ..state.secrets import known_secrets
from .encryption import KEY_VARIABLE
from .serializer import protection
from .unreadable import stored_value

PLANS = ("clew", "plans")
"""Namespace of the entries; the key is the plan's id."""

ACTIVE = ("clew", "active_plans")
"""Namespace of the choices of `set_active`; the key is the scope."""

_PAGE = 1000

Exclusive = Callable[[], AbstractAsyncContextManager[None]]
"""Keeps everybody else who changes plans out while it is entered."""


class PlanEntry(BaseModel):
    """A plan as the library holds it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    plan: Plan
    """The published copy."""

    thread: str | None = None
    """Thread whose state is the truth of this plan; None for a plan that is kept here alone."""

    checkpoint: str | None = None
    """Checkpoint of that thread that the copy was made from."""

    updated: datetime = Field(default_factory=lambda: datetime.now(UTC))
    """When the copy was made."""


class PlanLibrary:
    """Plans in a store, for any number of processes. `store` is that store, for graphs that publish to it."""

    def __init__(
        self, store: BaseStore, *, serde: SerializerProtocol | None = None, exclusive: Exclusive | None = None
    ) -> None:
        """Use a store; nothing is read or written yet.

        Args:
            store: any LangGraph store that is set up.
            serde: what turns an entry into bytes, such as `saver.serde`; None for one that masks the secrets that
                the environment names, and encrypts where `CLEW_ENCRYPTION_KEY` is set.
            exclusive: what `add`, `change` and `delete` enter while they read and write; None keeps out the other
                tasks of this process only. `open_plan_library` keeps out other processes too.
        """
        self.store = store
        self._serde = serde or protection(known_secrets(), os.environ.get(KEY_VARIABLE)).serde
        self._exclusive = exclusive or one_task_at_a_time()

    async def put(self, plan: Plan, *, thread: str | None = None, checkpoint: str | None = None) -> PlanEntry:
        """Publish a plan in place of any of the same id.

        Args:
            plan: the plan.
            thread: id of the thread that owns it.
            checkpoint: id of the checkpoint that it is a copy of.
        """
        entry = PlanEntry(plan=plan, thread=thread, checkpoint=checkpoint)
        await self.store.aput(PLANS, plan.id, self._stored(entry), index=False)
        return entry

    async def get(self, plan_id: str) -> PlanEntry:
        """The entry of that plan.

        Raises:
            PlanError: there is none.
        """
        item = await self.store.aget(PLANS, plan_id)
        if item is None:
            raise PlanError(f"There is no plan {plan_id!r}: `list` shows the plans that there are.")
        return self._read(item.value)

    async def list(self) -> list[PlanEntry]:
        """All entries, the one published last first."""
        entries: dict[str, PlanEntry] = {}
        offset = 0
        while page := await self.store.asearch(PLANS, limit=_PAGE, offset=offset):
            entries |= {item.key: self._read(item.value) for item in page}
            offset += len(page)
        return sorted(entries.values(), key=lambda entry: entry.updated, reverse=True)

    async def add(self, plan: Plan) -> PlanEntry:
        """Put in a plan of its own, without a thread. Adding an unstarted plan again does nothing.

        Raises:
            PlanError: there is another plan of that id.
        """
        async with self._exclusive():
            item = await self.store.aget(PLANS, plan.id)
            if item is None:
                return await self.put(plan)
            entry = self._read(item.value)
            if entry.plan != plan:
                raise PlanError(f"A plan {plan.id!r} exists: use `update` to change it, or give another plan_id.")
            return entry

    async def change(self, plan_id: str, change: Callable[[Plan], Plan]) -> PlanEntry:
        """Change a plan that no thread owns; changes of several processes come one after another, and none is lost.

        Raises:
            PlanError: there is no such plan, or a thread owns it.
        """
        async with self._exclusive():
            entry = await self.get(plan_id)
            if entry.thread is not None:
                raise PlanError(f"Plan {plan_id!r} belongs to the thread {entry.thread}: resume it to change the plan.")
            return await self.put(change(entry.plan))

    async def delete(self, plan_id: str) -> None:
        """Take a plan out. The thread that owns it is left alone.

        Raises:
            PlanError: there is no such plan.
        """
        async with self._exclusive():
            await self.get(plan_id)
            await self.store.adelete(PLANS, plan_id)

    async def set_active(self, plan_id: str, scope: str) -> PlanEntry:
        """Make a plan the one that commands without an id mean.

        Args:
            plan_id: id of a plan of the library.
            scope: whose choice it is, such as a thread id.

        Raises:
            PlanError: there is no such plan.
        """
        entry = await self.get(plan_id)
        await self.store.aput(ACTIVE, scope, {"plan_id": plan_id}, index=False)
        return entry

    async def active(self, scope: str) -> PlanEntry | None:
        """The plan that was made active in that scope; None if none was, or it is gone."""
        choice = await self.store.aget(ACTIVE, scope)
        item = await self.store.aget(PLANS, choice.value["plan_id"]) if choice else None
        return self._read(item.value) if item else None

    def _stored(self, entry: PlanEntry) -> dict[str, Any]:
        kind, data = self._serde.dumps_typed(entry.model_dump(mode="json"))
        return {"type": kind, "data": b64encode(data).decode()}

    def _read(self, value: dict[str, Any]) -> PlanEntry:
        if "+" in value["type"] and not isinstance(self._serde, EncryptedSerializer):
            raise CheckpointError(f"The plan library is encrypted: set {KEY_VARIABLE}.")
        try:
            return PlanEntry.model_validate(stored_value(self._serde, value["type"], b64decode(value["data"])))
        except ValueError as error:
            raise CheckpointError("A plan of the library is damaged: restore the database from a backup.") from error


def one_task_at_a_time() -> Exclusive:
    """Keeps the other tasks of this process out."""
    turn = asyncio.Lock()

    @asynccontextmanager
    async def exclusive() -> AsyncIterator[None]:
        async with turn:
            yield

    return exclusive
