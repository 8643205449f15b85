"""Async functions as graph nodes and routes that also serve the sync methods of a graph."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import copy_context
from functools import cache, wraps
from inspect import signature
from threading import Thread
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, get_type_hints

from langchain_core.runnables import RunnableConfig
from langgraph._internal._constants import CONFIG_KEY_RUNTIME
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..models.retries import counting_retries
from ..state.metrics import no_counts, with_seconds

P = ParamSpec("P")
T = TypeVar("T")


def node(
    function: Callable[..., Coroutine[Any, Any, Any]], name: str | None = None, *, has_child: bool = False
) -> RunnableCallable:
    """A node that awaits `function` under `ainvoke`, and runs it on one background loop under `invoke`.

    LangGraph refuses `invoke` on a graph whose nodes are async functions alone. The graph traces its nodes itself. The
    counters that the node writes get the seconds that it took and the retries of its model calls.

    Args:
        function: what the node does.
        name: name of the node; None for the function's.
        has_child: whether the function runs a child graph, which LangGraph finds in the closure of the function itself.
    """
    timed = function if has_child else _timed(function, name or function.__name__)
    return RunnableCallable(_blocking(timed), timed, name=name, trace=False, recurse=False)


def route(function: Callable[..., Coroutine[Any, Any, Any]]) -> RunnableCallable:
    """A routing function for both ways; a sync one would cost a thread hop at each step.

    LangGraph's `update_state` routes without a runtime; there the function gets an empty one.
    """
    routed = _with_runtime(function) if "runtime" in signature(function).parameters else function
    return RunnableCallable(_blocking(routed), routed, trace=False, recurse=False)


def _with_runtime(function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
    takes_config = "config" in signature(function).parameters

    async def routed(state: Any, config: RunnableConfig) -> Any:
        runtime = config.get("configurable", {}).get(CONFIG_KEY_RUNTIME) or Runtime()
        if takes_config:
            return await function(state, config=config, runtime=runtime)
        return await function(state, runtime=runtime)

    # From the annotation of the state LangGraph learns which channels the route reads.
    routed.__annotations__["state"] = get_type_hints(function)["state"]
    return routed


def _timed(function: Callable[..., Coroutine[Any, Any, Any]], name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
    """The function, whose counters get the seconds that it took and the retries of its model calls."""

    @wraps(function)
    async def timed(*args: Any, **kwargs: Any) -> Any:
        begun = perf_counter()
        with counting_retries() as retries:
            update = await function(*args, **kwargs)
        progress = update.get("progress") if isinstance(update, dict) else None
        if not progress:
            return update
        counts = with_seconds(progress.get("counts") or no_counts(), name, perf_counter() - begun)
        counts = {**counts, "retries": counts["retries"] + len(retries)}
        return {**update, "progress": {**progress, "counts": counts}}

    return timed


def _blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    @wraps(function)
    def blocking(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_on_background_loop(function(*args, **kwargs))

    return blocking


def run_on_background_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop, in the caller's context variables, and wait for it."""
    loop, context, outcome = _background_loop(), copy_context(), Future[T]()

    async def run() -> None:
        try:
            outcome.set_result(await coroutine)
        except BaseException as error:  # whatever it is belongs to the waiting thread
            outcome.set_exception(error)

    tasks: list[asyncio.Task[None]] = []
    loop.call_soon_threadsafe(lambda: tasks.append(loop.create_task(run(), context=context)))
    try:
        return outcome.result()
    except KeyboardInterrupt:
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])
        raise


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="clew-background-loop", daemon=True).start()
    return loop
