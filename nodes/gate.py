"""gate: a limit is met. A person may raise it; with nobody there the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ..state.agent import AgentState, Ending
from ..state.context import RunContext, can_ask, run_context
from ..state.limits import LimitKind
from ..state.planning import AnyAgentState
from .clock import clocked
from .context import Begin
from .equipment import Equipment, agent_path
from .limit_question import limit_question, raised_limits
from .limits import LENT, Met
from .node import node, route


def gate_node(equipment: Equipment) -> RunnableCallable:
    """The node that asks whether the task may use more."""

    async def gate(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        progress = state["progress"]
        met = equipment.meter(progress, runtime).met(progress, config)
        if met is None:
            return {}
        counted = {**progress, **clocked(progress, config)}
        ended = {"progress": {**counted, "ending": limit_ending(met.kind)}}
        if run_context(runtime).fixed_limits or not can_ask(runtime):
            return ended
        raised = ask_for_more(met, [*agent_path(config), equipment.spec.name])
        if not raised:
            return ended
        return {"progress": {**counted, "raised": {**progress["raised"], **raised}}}

    return node(gate)


def route_gate(begin: Begin) -> RunnableCallable:
    """`terminate` if the task is to end, else what begins a step."""

    async def after_gate(state: AnyAgentState) -> str:
        return "terminate" if state["progress"]["ending"] else begin(state)

    return route(after_gate)


def ask_for_more(met: Met, path: list[str]) -> dict[str, float]:
    """What a person raises the limits to; nothing if the task is to end there."""
    answer = interrupt(limit_question(met.kind, met.used, met.bound, path))
    while met.is_lease and isinstance(answer, Mapping):
        # Limits by name are the run's. It gave this agent its part of the raise, which was too little.
        answer = interrupt(limit_question(met.kind, met.used, met.bound, path))
    raised = raised_limits(answer, met.kind)
    if raised.get(met.kind, 0) <= met.bound:
        return {}
    return {f"{LENT}{kind}": bound for kind, bound in raised.items()} if met.is_lease else raised


def limit_ending(kind: LimitKind) -> Ending:
    """The end of a task that used up a kind of its limits; the reason names the limit."""
    return Ending(status="limit", success=False, reason=f"max_{kind}", answer="")
