"""What tools keep between calls: the pool of live resources (a shell, a browser, a kernel, a sandbox).

Graphs are static exports and tools hold no sessions, so whatever must outlive one call lives here, under the thread
and the agent that opened it. A pool belongs to one event loop: nothing of another loop, or of a closed one, is ever
handed out, and when the loop ends (`asyncio.run` cancels what still runs) the pool closes all it holds.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeVar, cast
from weakref import WeakKeyDictionary

from langchain_core.runnables import RunnableConfig

IDLE_SECONDS = 1800.0
"""Seconds without use after which a resource is closed."""

NAMESPACE_SEPARATOR = "|"
"""Separates the graphs in LangGraph's `checkpoint_ns`; each segment is `node:task`."""


class Resource(Protocol):
    """Anything that is open until it is closed."""

    async def close(self) -> None:
        """Release all of it; closing twice does nothing."""


ResourceT = TypeVar("ResourceT", bound=Resource)


class Scope(NamedTuple):
    """Whose resources they are."""

    thread: str
    """Thread of the run; `lease:ID` for tools that are called outside of any thread."""

    namespace: str = ""
    """Checkpoint namespace of the agent graph within the thread; empty for the outermost."""

    def covers(self, other: Scope) -> bool:
        """Whether `other` is this scope or one of the namespaces below it."""
        if self.thread != other.thread:
            return False
        below = not self.namespace or other.namespace.startswith(self.namespace + NAMESPACE_SEPARATOR)
        return below or self.namespace == other.namespace


def scope_of(config: RunnableConfig | None, lease: str = "") -> Scope:
    """Scope of the agent that makes a tool call under `config`.

    The last segment of the namespace is the task that runs the call, so it is left out: all calls of one agent share
    a scope. Without a thread the scope is private to `lease`.
    """
    configurable = (config or {}).get("configurable", {})
    thread = configurable.get("thread_id")
    if thread is None:
        return Scope(f"lease:{lease}")
    namespace = str(configurable.get("checkpoint_ns") or "")
    return Scope(str(thread), namespace.rpartition(NAMESPACE_SEPARATOR)[0])


@dataclass(eq=False)
class _Slot:
    idle: float
    owner: str
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    resource: Resource | None = None
    users: int = 0
    since: float = 0.0
    closed: bool = False

    @property
    def deadline(self) -> float | None:
        """Time of the loop at which the resource has been idle for too long; None while it is in use."""
        return None if self.users or self.resource is None else self.since + self.idle


class ResourcePool:
    """Live resources by scope and kind, for one event loop. Get it from `resources()`."""

    def __init__(self) -> None:
        self._slots: dict[tuple[Scope, str], _Slot] = {}
        self._changed = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._slots)

    def kinds(self, scope: Scope) -> list[str]:
        """Kinds of the resources that are open in exactly this scope."""
        return [kind for (owner, kind), slot in self._slots.items() if owner == scope and slot.resource is not None]

    @asynccontextmanager
    async def use(
        self,
        scope: Scope,
        kind: str,
        factory: Callable[[], Awaitable[ResourceT]],
        *,
        owner: str = "",
        idle: float = IDLE_SECONDS,
    ) -> AsyncIterator[ResourceT]:
        """Lend the resource of `kind`, opened by `factory` where there is none; it stays open afterwards.

        Several may use it at once: what needs turns takes them itself. `owner` names the lease that opens it;
        `idle` is in seconds and counts while nobody uses it.
        """
        slot = await self._open(scope, kind, factory, owner, idle)
        try:
            yield cast(ResourceT, slot.resource)
        finally:
            slot.users -= 1
            slot.since = asyncio.get_running_loop().time()
            self._changed.set()

    async def close(self, scope: Scope, kind: str | None = None) -> None:
        """Close what is open in `scope` and in the namespaces below it; with `kind`, only that one in that scope."""
        if kind is not None:
            await self._close([(scope, kind)])
        else:
            await self._close([key for key in self._slots if scope.covers(key[0])])

    async def close_owned(self, owner: str) -> None:
        """Close what the lease `owner` opened, in any scope."""
        await self._close([key for key, slot in self._slots.items() if slot.owner == owner])

    async def close_all(self) -> None:
        """Close everything; the pool can be used again."""
        await self._close(list(self._slots))

    async def _open(
        self, scope: Scope, kind: str, factory: Callable[[], Awaitable[Resource]], owner: str, idle: float
    ) -> _Slot:
        while True:
            slot = self._slots.setdefault((scope, kind), _Slot(idle, owner))
            async with slot.lock:
                if slot.closed:
                    continue
                if slot.resource is None:
                    await self._fill(slot, (scope, kind), factory)
                slot.users += 1
                return slot

    async def _fill(self, slot: _Slot, key: tuple[Scope, str], factory: Callable[[], Awaitable[Resource]]) -> None:
        self._watch()
        try:
            slot.resource = await factory()
        except BaseException:
            slot.closed = True
            self._slots.pop(key, None)
            raise

    async def _close(self, keys: Iterable[tuple[Scope, str]]) -> None:
        slots = [slot for key in keys if (slot := self._slots.pop(key, None)) is not None]
        if slots:
            self._changed.set()
        failures = await asyncio.gather(*map(_close_slot, slots), return_exceptions=True)
        for failure in failures:
            if failure is not None:
                raise failure

    def _watch(self) -> None:
        if self._keeper is None or self._keeper.done():
            # An empty context: the keeper outlives the run that happens to start it, and its tracing.
            loop = asyncio.get_running_loop()
            self._keeper = loop.create_task(self._keep(), name="clew resources", context=contextvars.Context())

    async def _keep(self) -> None:
        try:
            while self._slots:
                self._changed.clear()
                await self._close(self._idle_keys())
                deadlines = [slot.deadline for slot in self._slots.values() if slot.deadline is not None]
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(min(deadlines, default=None)):
                        await self._changed.wait()
        finally:
            await self.close_all()

    def _idle_keys(self) -> list[tuple[Scope, str]]:
        time = asyncio.get_running_loop().time()
        return [key for key, slot in self._slots.items() if slot.deadline is not None and slot.deadline <= time]


async def _close_slot(slot: _Slot) -> None:
    async with slot.lock:
        slot.closed = True
        resource, slot.resource = slot.resource, None
        if resource is not None:
            await resource.close()


_POOLS: WeakKeyDictionary[asyncio.AbstractEventLoop, ResourcePool] = WeakKeyDictionary()


def resources() -> ResourcePool:
    """Pool of the running event loop.

    Raises:
        RuntimeError: no event loop is running.
    """
    loop = asyncio.get_running_loop()
    if loop not in _POOLS:
        _POOLS[loop] = ResourcePool()
    return _POOLS[loop]
