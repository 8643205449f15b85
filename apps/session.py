"""Threads in a database: begun, driven under a lease, looked at."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END
from langgraph.store.base import BaseStore

from ..checkpoints.durable import DurableSaver
from ..checkpoints.fork import refuse_cut_off
from ..checkpoints.inbox import Inbox
from ..checkpoints.open import open_saver
from ..checkpoints.open_plans import open_plan_library
from ..checkpoints.threads import ThreadRegistry, thread_registry
from ..graphs import (
    cancel_flow,
    cancel_hub,
    cancel_remote,
    cancel_task,
    create_agent,
    create_flow,
    create_hub,
    hub_roles,
)
from ..models.load import load_model
from ..state.context import RunContext
from ..state.errors import ThreadBusy
from ..state.inbox import inbox_start
from ..state.limits import RunLimits
from ..state.notices import NoticeEvent
from ..state.outcome import ENDED
from ..state.remote import AT_WORK, OPEN
from ..state.secrets import known_secrets, secret_settings
from ..state.settings import Settings
from ..state.spec import AgentSpec
from ..state.stream import EndEvent, Event
from ..state.thread import ThreadRecord
from ..tools.sandbox.choice import describe_backend
from .drive import Graph, Stop, drive
from .log import log_event
from .readiness import check_run
from .remote_tasks import Withdrawal, remote_tasks, withdraw_all
from .telemetry import telemetry
from .view import ThreadView, thread_config, view_thread

PAUSED = "paused"
"""Reason of a view that says that a person stopped the run: no process died."""

PLAN = "plan"
"""The `graph` of a record whose thread carries out a plan."""

HUB = "hub"
"""The `graph` of a record whose thread is on the hub; its agents are those of the roles, in their order."""


class Session:
    """An open database with its threads. Get one from `open_session`."""

    def __init__(self, settings: Settings, saver: DurableSaver, callbacks: Sequence[BaseCallbackHandler] = ()) -> None:
        self.settings = settings
        self.saver = saver
        self._callbacks = callbacks
        self._withdrawn: dict[str, list[str]] = {}
        self.registry: ThreadRegistry = thread_registry(saver)

    async def view(self, record: ThreadRecord) -> ThreadView:
        """Where a thread stands: `running` while a live process has it, `waiting` where a person paused it."""
        view = await view_thread(self.saver, record.thread)
        if holder := await self.registry.holder(record.thread):
            return replace(view, status="running", reason=f"{holder.owner}, process {holder.process.pid}")
        if view.status in ("interrupted", "idle") and record.paused:
            return replace(view, status="waiting", reason=PAUSED)
        return view

    def graph(self, record: ThreadRecord, model: BaseChatModel | None = None, store: BaseStore | None = None) -> Graph:
        """The graph of a thread, attached to the database.

        Raises:
            UsageError: the record names a tool that is not there any more, or no agent.
        """
        given: dict[str, Any] = {"model": model or record.model, "checkpointer": self.saver, "settings": self.settings}
        if record.graph == PLAN:
            agents = {spec.name: spec for spec in record.agents}
            return create_flow(agents=agents, store=store, **given, **record.options)
        primary = record.primary
        if record.graph == HUB:
            return create_hub(hub_roles(record.agents), **given, **record.options)
        return create_agent(primary, **given)

    async def values(self, record: ThreadRecord, checkpoint: str | None = None) -> dict[str, Any]:
        """The state of a thread, at its newest checkpoint or the one named."""
        snapshot = await self.reader(record).aget_state(thread_config(record.thread, checkpoint))
        return dict(snapshot.values)

    async def child_values(self, record: ThreadRecord, namespace: str) -> dict[str, Any]:
        """The newest state of a graph that runs, or ran, in a node of the thread's graph; `namespace` names it."""
        place: RunnableConfig = {"configurable": {"thread_id": record.thread, "checkpoint_ns": namespace}}
        return dict((await self.reader(record).aget_state(place)).values)

    async def fork(self, record: ThreadRecord, checkpoint: str) -> ThreadView:
        """Set a thread back to one of its checkpoints, as a copy that becomes the newest.

        At its newest it stands already: a copy would make its pending calls anew, also those that were made.

        Raises:
            UsageError: the checkpoint was left with calls that may have taken effect, which a copy would make again.
            ThreadBusy: a live process runs the thread.
        """
        async with self.registry.lease(record.thread, "clew fork"):
            if checkpoint != (await view_thread(self.saver, record.thread)).checkpoint:
                await refuse_cut_off(self.saver, record.thread, checkpoint)
                config = thread_config(record.thread, checkpoint)
                await self.reader(record).aupdate_state(config, None, as_node="__copy__")
                await Inbox(self.saver).clear(record.thread)
            await self._keep(record, paused=True)
        return await self.view(record.model_copy(update={"paused": True}))

    def reader(self, record: ThreadRecord) -> Graph:
        """The graph of a thread, to read what it holds: an agent's is made without its tools and its model."""
        if record.graph == PLAN:
            return self.graph(record)
        given: dict[str, Any] = {"tools": [], "checkpointer": self.saver, "settings": self.settings}
        # What is stored is the same for every agent.
        spec = record.primary if record.agents else AgentSpec(name=record.graph)
        return create_hub(**given) if record.graph == HUB else create_agent(spec, **given)

    async def end_task(self, record: ThreadRecord) -> list[Event]:
        """End the task of a thread as `cancelled`: its calls are answered, its questions dropped.

        It is for whoever holds the lease of the thread, and drives nothing on it. It returns the last events: what a
        person should know, and the end.
        """
        graph, config = self.reader(record), thread_config(record.thread)
        withdrawal = await self._withdraw(record, OPEN)
        values = dict((await graph.aget_state(config)).values)
        one = cancel_remote if record.agents and record.agents[0].remote else cancel_task
        node, update = {PLAN: cancel_flow, HUB: cancel_hub}.get(record.graph, one)(values)
        await graph.aupdate_state(config, None, as_node=END)  # what was begun and not done is dropped
        await graph.aupdate_state(config, update, as_node=node)
        end = [event async for event in drive(graph, record.thread, None) if isinstance(event, EndEvent)][-1]
        await self._settle(record, end)
        return [*(NoticeEvent(text=left) for left in withdrawal.left), end]

    async def _last_events(self, record: ThreadRecord, end: EndEvent) -> list[Event]:
        """The end, once it is kept; before it what a person should know, or the end that a stop makes of it."""
        # What is done again here when the run goes on is not to go on elsewhere meanwhile.
        withdrawal = await self._withdraw(record, AT_WORK if end.reason == PAUSED else ())
        self._withdrawn[record.thread] = [*self._all_withdrawn(record), *withdrawal.done]
        await self._settle(record, end)
        notices: list[Event] = [NoticeEvent(text=left) for left in withdrawal.left]
        is_stopped = end.status == "waiting" and await self._is_stopped(record)
        return [*notices, *(await self.end_task(record) if is_stopped else [end])]

    async def _withdraw(self, record: ThreadRecord, states: Collection[str]) -> Withdrawal:
        if not states:
            return Withdrawal()
        snapshot = await self.reader(record).aget_state(thread_config(record.thread), subgraphs=True)
        return await withdraw_all(list(remote_tasks(snapshot, states)), self.settings)

    async def _settle(self, record: ThreadRecord, end: EndEvent) -> None:
        ended = end.status in ENDED
        withdrawn = [] if ended else self._all_withdrawn(record)
        await self._keep(record.model_copy(update={"withdrawn": withdrawn}), paused=end.reason == PAUSED)
        if ended:
            self._withdrawn.pop(record.thread, None)
            await Inbox(self.saver).clear_orders(record.thread)

    async def _is_stopped(self, record: ThreadRecord) -> bool:
        """Whether a stop came that no gate was left to obey: the run waits for a person instead."""
        progress = (await self.values(record)).get("progress")
        place = (progress or {}).get("inbox", inbox_start())
        return await Inbox(self.saver).stop_after(record.thread, place["orders"]) > 0

    async def drive(
        self,
        record: ThreadRecord,
        input: Any,
        *,
        owner: str,
        seen: ThreadView | None = None,
        stop: Stop | None = None,
        tokens: bool = False,
        recording: Path | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run the thread as `drive` does, under its lease; the record is kept first.

        Args:
            record: How the thread is to run.
            input: As `drive` takes it.
            owner: What other processes are told of who runs it.
            seen: Where the thread stood when the input was settled; None for an input that fits in any case.
            stop: Stops the run in an orderly way.
            tokens: Whether the pieces of the replies are events too.
            recording: File that the model's replies are recorded into.

        Raises:
            ThreadBusy: a live process runs the thread, or one has taken it further since it was seen.
            UsageError: there is no such model or tool, the workspace is no folder, or the sandbox that the settings
                name does not work.
        """
        await asyncio.to_thread(check_run, record, self.settings)
        sandbox = await describe_backend(self.settings.sandbox)
        # Loading imports a provider's package, which reads files; a wrong name is told before the thread begins.
        elsewhere = record.graph not in (PLAN, HUB) and record.primary.remote
        model = (
            None
            if elsewhere
            else await asyncio.to_thread(load_model, record.model, settings=self.settings, record=recording)
        )
        async with self._library(record) as store, self.registry.lease(record.thread, owner):
            if seen:
                await self._expect(seen)
            record = record.model_copy(update={"withdrawn": self._all_withdrawn(record)})
            graph = self.graph(record, model, store)
            await self._keep(record, paused=False)
            context = run_context_of(record)
            events = drive(
                graph,
                record.thread,
                input,
                context=context,
                stop=stop,
                tokens=tokens,
                sandbox=sandbox,
                callbacks=self._callbacks,
            )
            async with aclosing(events):
                async for event in events:
                    for each in await self._last_events(record, event) if isinstance(event, EndEvent) else [event]:
                        log_event(record.thread, each)
                        yield each

    @asynccontextmanager
    async def _library(self, record: ThreadRecord) -> AsyncIterator[BaseStore | None]:
        if record.graph != PLAN:
            yield None
            return
        known, patience = _secrets(self.settings), self.settings.db_wait
        async with open_plan_library(self.settings.database, secrets=known, patience=patience) as library:
            yield library.store

    async def new_thread_id(self) -> str:
        """An id that no thread of the database has."""
        taken = await self.registry.names()
        while (thread := secrets.token_hex(4)) in taken:
            continue
        return thread

    async def _expect(self, seen: ThreadView) -> None:
        if (await view_thread(self.saver, seen.thread)).checkpoint != seen.checkpoint:
            advice = f"`clew show {seen.thread}` says where it stands"
            raise ThreadBusy(f"thread {seen.thread} was taken further by another process meanwhile: {advice}")

    def _all_withdrawn(self, record: ThreadRecord) -> list[str]:
        """What was withdrawn on the thread, since somebody read its record too."""
        return list(dict.fromkeys([*record.withdrawn, *self._withdrawn.get(record.thread, [])]))

    async def _keep(self, record: ThreadRecord, *, paused: bool) -> None:
        await self.registry.put(record.model_copy(update={"paused": paused}))


@asynccontextmanager
async def open_session(settings: Settings) -> AsyncIterator[Session]:
    """Open the database of the settings, and close it at the end.

    Raises:
        UsageError: the database is of a kind that clew does not know.
        CheckpointError: it cannot be opened.
    """
    full_sync, patience = settings.db_sync == "full", settings.db_wait
    opened = open_saver(settings.database, secrets=_secrets(settings), full_sync=full_sync, patience=patience)
    async with opened as saver, telemetry(settings) as callbacks:
        yield Session(settings, saver, callbacks)


def run_context_of(record: ThreadRecord) -> RunContext:
    """The run's context as the record says it."""
    limits = record.model_dump(include=set(RunLimits.model_fields))
    return RunContext(
        workspace=record.workspace,
        headless=record.headless,
        confirm=record.confirm,
        withdrawn=record.withdrawn,
        **limits,
    )


def _secrets(settings: Settings) -> list[str]:
    return sorted({*known_secrets(), *secret_settings(settings)})
