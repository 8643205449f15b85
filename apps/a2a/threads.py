"""What runs behind an A2A server: an agent of ours on threads of a session, or any graph on its own checkpointer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, Protocol

from langgraph.graph import END

from ...checkpoints.durable import DurableSaver
from ...checkpoints.threads import thread_registry
from ...state.context import RunContext
from ...state.errors import UsageError
from ...state.spec import AgentSpec
from ...state.stream import Event
from ...state.thread import ThreadRecord
from ..drive import Graph, Stop, drive
from ..log import log_event
from ..session import Session
from ..view import ThreadView, thread_config, view_thread

OWNER = "clew serve a2a"
"""What other processes are told of who runs a thread."""


class Threads(Protocol):
    """Runs one graph on threads."""

    def drive(self, thread: str, input: Any, task: str, stop: Stop) -> AsyncGenerator[Event, None]:
        """Begin or go on; `task` is the newest task in words. Raises `ThreadBusy` where another process has it."""
        ...

    async def view(self, thread: str) -> ThreadView:
        """Where the thread stands."""
        ...

    async def cancel(self, thread: str) -> None:
        """End what the thread has not finished: nothing of it runs again, and nothing is asked any more."""
        ...


class AgentThreads:
    """An agent of ours on threads of a session, where `clew threads` lists them.

    Args:
        session: The database.
        spec: The agent.
        model: Name of its model; None for the settings'.
    """

    def __init__(self, session: Session, spec: AgentSpec, model: str | None = None) -> None:
        self._session = session
        self._spec = spec
        self._model = model or spec.model or session.settings.model

    async def drive(self, thread: str, input: Any, task: str, stop: Stop) -> AsyncGenerator[Event, None]:
        """As `Threads` says."""
        record = await self._record(thread) or self._first(thread)
        record = record.model_copy(update={"task": task}) if task else record
        async for event in self._session.drive(record, input, owner=OWNER, stop=stop):
            yield event

    async def view(self, thread: str) -> ThreadView:
        """As `Threads` says; `running` while a live process has it."""
        record = await self._record(thread)
        return await self._session.view(record) if record else ThreadView(thread)

    async def cancel(self, thread: str) -> None:
        """As `Threads` says."""
        record = await self._record(thread)
        if record is None or not (await view_thread(self._session.saver, thread)).unfinished:
            return
        async with self._session.registry.lease(thread, OWNER):
            for event in await self._session.end_task(record):
                log_event(thread, event)

    async def _record(self, thread: str) -> ThreadRecord | None:
        try:
            return await self._session.registry.get(thread)
        except UsageError:
            return None

    def _first(self, thread: str) -> ThreadRecord:
        workspace = str(self._session.settings.workspace_of(thread))
        return ThreadRecord(thread=thread, agents=[self._spec], model=self._model, workspace=workspace)


class GraphThreads:
    """Any graph, on the checkpointer that it was compiled with.

    Args:
        graph: A graph that is invoked with `{"messages": […]}` and whose answer is its last message, or that has the
            channels of ours.
        context: Settings of each run.
    """

    def __init__(self, graph: Graph, context: RunContext | None = None) -> None:
        self._graph = graph
        self._context = context

    async def drive(self, thread: str, input: Any, task: str, stop: Stop) -> AsyncGenerator[Event, None]:
        """As `Threads` says."""
        async with self._lease(thread):
            async for event in drive(self._graph, thread, input, context=self._context, stop=stop):
                yield event

    async def view(self, thread: str) -> ThreadView:
        """As `Threads` says; the answer of a graph without an outcome is its last message."""
        view = await view_thread(self._saver, thread)
        if view.status != "finished" or view.answer:
            return view
        messages = (await self._graph.aget_state(thread_config(thread))).values.get("messages") or []
        return replace(view, answer=messages[-1].text if messages else "")

    async def cancel(self, thread: str) -> None:
        """As `Threads` says."""
        if not (await self.view(thread)).unfinished:
            return
        async with self._lease(thread):
            await self._graph.aupdate_state(thread_config(thread), None, as_node=END)

    @property
    def _saver(self) -> Any:
        return self._graph.checkpointer

    def _lease(self, thread: str) -> AbstractAsyncContextManager[None]:
        if isinstance(self._saver, DurableSaver):
            return thread_registry(self._saver).lease(thread, OWNER)
        return nullcontext()
