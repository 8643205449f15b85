"""Nodes that open no run of their own where no callback listens for runs."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph._internal._runnable import RunnableSeq
from langgraph.graph.state import CompiledStateGraph


class _QuietSequence(RunnableSeq):
    """A node and what writes its update. A run that nobody hears of costs a twentieth of a step's CPU."""

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **options: Any) -> Any:
        """As in LangGraph, which opens a run also where no handler is told of it."""
        callbacks = config.get("callbacks") if config else None
        if config is None or not isinstance(callbacks, BaseCallbackManager) or callbacks.handlers:
            return await super().ainvoke(input, config, **options)
        first, *writers = self.steps
        # LangGraph gives the node a task and a context of its own; here the config is put in place and taken back.
        token = var_child_runnable_config.set(config)
        try:
            output = await first.ainvoke(input, config, **options)
        finally:
            var_child_runnable_config.reset(token)
        for writer in writers:
            output = await writer.ainvoke(output, config)
        return output


def quiet(graph: CompiledStateGraph[Any, Any, Any, Any]) -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph, whose nodes now open their runs only where a callback listens, such as a tracer's."""
    for node in graph.nodes.values():
        whole = node.node
        if isinstance(whole, RunnableSeq):
            node.__dict__["node"] = _QuietSequence(
                *whole.steps, name=whole.name, trace_inputs=whole.trace_inputs, trace_policy=whole.trace_policy
            )
    return graph
