"""Drives a graph on a thread and says what happens: the one place for every way in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast
from uuid import uuid4

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphDrained
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import RunControl
from langgraph.types import StateSnapshot, StreamMode

from ..state.context import RunContext
from ..state.outcome import Status
from ..state.plan import Plan
from ..state.plan_data import plan_data
from ..state.sandbox import Backend
from ..state.stream import EndEvent, Event, StartEvent
from .translate import Translator
from .view import ThreadView, thread_config, view_thread

Graph = CompiledStateGraph[Any, Any, Any, Any]

GRACE_SECONDS = 5.0
"""Seconds that a step in flight has to finish once a stop is asked for, before it is cancelled."""


class Stop:
    """Stops a run that `drive` drives. It belongs to one run and one event loop."""

    def __init__(self, grace: float = GRACE_SECONDS) -> None:
        self.control = RunControl()
        """What LangGraph looks at between two supersteps."""

        self._grace = grace
        self._cancelled = asyncio.Event()

    @property
    def requested(self) -> bool:
        """Whether a stop was asked for."""
        return self.control.drain_requested

    def request(self) -> None:
        """Stop after the superstep in flight, or cancel it when it takes longer than the grace; twice cancels it."""
        if self.requested:
            self._cancelled.set()
        else:
            self.control.request_drain("stop")
            asyncio.get_running_loop().call_later(self._grace, self._cancelled.set)

    async def cancelled(self) -> None:
        """Wait until the superstep in flight is to be cancelled."""
        await self._cancelled.wait()


async def drive(
    graph: Graph,
    thread: str,
    input: Any,
    *,
    context: RunContext | None = None,
    stop: Stop | None = None,
    tokens: bool = False,
    sandbox: Backend | None = None,
    callbacks: Sequence[BaseCallbackHandler] = (),
) -> AsyncGenerator[Event, None]:
    """Run the graph on a thread until it ends, asks or is stopped; `start` comes first and `end` last.

    Args:
        graph: A graph with a checkpointer.
        thread: Id of the thread.
        input: The state to begin a task with, a `Command`, or None to go on with an unfinished task.
        context: Settings of the run.
        stop: Stops the run in an orderly way; closing the iterator cancels it.
        tokens: Whether the pieces of the replies are events too.
        sandbox: Where the commands of the run run, for the `start` event.
        callbacks: What is told of the run's nodes and calls, such as `SpanHandler`.

    Raises:
        Exception: what the graph raised, after the `end` event that names it.
    """
    run, stop = uuid4().hex, stop or Stop()
    saver = cast("BaseCheckpointSaver[Any]", graph.checkpointer)
    resumed = not isinstance(input, dict)
    yield StartEvent(thread=thread, run=run, resumed=resumed, sandbox=sandbox)
    translate = await _translator(graph, thread, resumed)
    wanted: dict[StreamMode, bool] = {"tasks": True, "messages": tokens, "values": _plans(graph), "custom": True}
    config: RunnableConfig = {**thread_config(thread), "metadata": {"run_id": run}}
    if callbacks:
        config["callbacks"] = list(callbacks)
    stream = graph.astream(
        input,
        config,
        context=context or RunContext(),
        stream_mode=[mode for mode, is_wanted in wanted.items() if is_wanted],
        subgraphs=True,
        durability="sync",
        control=stop.control,
        version="v2",
    )
    failure: Exception | None = None
    try:
        async with aclosing(_until_cancelled(stream, stop)) as parts:
            async for part in parts:
                for event in translate(part):
                    yield event
    except GraphDrained:
        pass
    except Exception as error:  # the end is told before the error goes on to whoever drives
        failure = error
    plan = (await graph.aget_state(thread_config(thread))).values.get("plan") if _plans(graph) else None
    yield end_event(await view_thread(saver, thread), plan=plan, stopped=stop.requested, failure=failure)
    if failure is not None:
        raise failure


def end_event(
    view: ThreadView, *, plan: Plan | None = None, stopped: bool = False, failure: Exception | None = None
) -> EndEvent:
    """The `end` event of a thread that no process drives any more."""
    status, reason = _end(view, stopped, failure)
    return EndEvent(
        thread=view.thread,
        status=status,
        reason=reason,
        answer=view.answer,
        steps=view.steps,
        usage=view.usage,
        metrics=view.metrics,
        plan=plan_data(plan) if plan else None,
        success=view.success and failure is None,
    )


def _end(view: ThreadView, stopped: bool, failure: Exception | None) -> tuple[Status, str]:
    if failure is not None:
        return "error", f"{type(failure).__name__}: {failure}"
    if view.status == "interrupted":
        return ("waiting", "paused") if stopped else ("running", view.reason)
    return view.status, view.reason


def _plans(graph: Graph) -> bool:
    return "plan" in graph.channels


async def _translator(graph: Graph, thread: str, resumed: bool) -> Translator:
    if not resumed:
        return Translator()
    # LangGraph announces the tasks of a step again when it goes on with it, those with a result too.
    snapshot = await graph.aget_state(thread_config(thread), subgraphs=True)
    return Translator(_with_result(snapshot), snapshot.values.get("plan"))


def _with_result(snapshot: StateSnapshot) -> list[str]:
    found = [task.id for task in snapshot.tasks if task.result is not None]
    children = [task.state for task in snapshot.tasks if isinstance(task.state, StateSnapshot)]
    return found + [identifier for child in children for identifier in _with_result(child)]


async def _until_cancelled(stream: AsyncIterator[Any], stop: Stop) -> AsyncGenerator[Any, None]:
    """The parts of the stream, which runs in a task of its own, so that it can be cancelled in the middle of a step."""
    parts: asyncio.Queue[tuple[Any] | None] = asyncio.Queue()

    async def pump() -> None:
        try:
            async for part in stream:
                parts.put_nowait((part,))
        finally:
            parts.put_nowait(None)

    running = asyncio.create_task(pump())
    watching = asyncio.create_task(stop.cancelled())
    watching.add_done_callback(lambda task: None if task.cancelled() else running.cancel())
    try:
        while (part := await parts.get()) is not None:
            yield part[0]
        await asyncio.wait({running})
        if not running.cancelled():
            running.result()
    finally:
        running.cancel()
        watching.cancel()
        await asyncio.wait({running, watching})
