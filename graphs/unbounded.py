"""Compiled graphs without LangGraph's bound on supersteps: `gate` and the plan's budget are the guards.

Every run of such a graph carries the time at which it began, for the limit of working time.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import DEFAULT_RECURSION_LIMIT
from langgraph.graph.state import CompiledStateGraph

from ..nodes.clock import STARTED

UNBOUNDED = 1_000_000_000
"""Supersteps that no run reaches."""


class UnboundedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled graph whose runs end by themselves; a recursion limit that a caller chose still holds."""

    def stream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Iterator[Any]:
        """As in LangGraph."""
        return super().stream(input, _unbounded(config), **options)

    def astream(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> AsyncIterator[Any]:
        """As in LangGraph."""
        return super().astream(input, _unbounded(config), **options)


def unbounded(graph: CompiledStateGraph[Any, Any, Any, Any]) -> UnboundedGraph:
    """The graph without a bound on its supersteps."""
    return UnboundedGraph(**vars(graph))


def _unbounded(config: RunnableConfig | None) -> RunnableConfig:
    # LangChain's own methods (`batch`, a chain) put their default of 25 into the config, as if somebody had chosen it.
    given = _stamped(config or {})
    if given.get("recursion_limit", DEFAULT_RECURSION_LIMIT) != DEFAULT_RECURSION_LIMIT:
        return given
    return {**given, "recursion_limit": UNBOUNDED}


def _stamped(config: RunnableConfig) -> RunnableConfig:
    configurable = config.get("configurable", {})
    # A child graph has its parent's stamp.
    return config if STARTED in configurable else {**config, "configurable": {STARTED: time.time(), **configurable}}
