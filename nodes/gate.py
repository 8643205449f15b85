"""gate: a limit is met. A person may raise it; with nobody there the run ends."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ..state.agent import AgentState, Ending, Progress
from ..state.context import RunContext, can_ask, run_context
from ..state.planning import AnyAgentState
from ..state.question import Question
from .equipment import Equipment, agent_path
from .node import node, route

STOP = "stop"


def gate_node(equipment: Equipment) -> RunnableCallable:
    """The node that asks whether the task may take more steps."""

    async def gate(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        progress = state["progress"]
        limit = equipment.max_steps(progress, runtime)
        if progress["steps"] < limit:
            return {}
        if run_context(runtime).fixed_limits or not can_ask(runtime):
            return {"progress": _ended(progress)}
        path = [*agent_path(config), equipment.spec.name]
        raised = _raised(interrupt(_question(progress["steps"], limit, path)), limit)
        return {"progress": {**progress, "max_steps": raised} if raised > limit else _ended(progress)}

    return node(gate)


def route_gate(begin: str) -> RunnableCallable:
    """`terminate` if the task is to end, else what begins a step."""

    async def after_gate(state: AnyAgentState) -> str:
        return "terminate" if state["progress"]["ending"] else begin

    return route(after_gate)


def _question(steps: int, limit: int, path: list[str]) -> Question:
    return Question(
        kind="limit",
        question=f"{path[-1]} has taken {steps} of {limit} steps. How many may it take in all?",
        options=[str(limit + limit), STOP],
        data={"steps": steps, "max_steps": limit},
        path=path,
    )


def _raised(answer: Any, limit: int) -> int:
    """The new limit: a number, its text, or `{"max_steps": number}`; anything else keeps the old one."""
    value = answer.get("max_steps") if isinstance(answer, dict) else answer
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.strip().isdecimal()) else limit


def _ended(progress: Progress) -> Progress:
    return {**progress, "ending": Ending(status="limit", success=False, reason="max_steps", answer="")}
