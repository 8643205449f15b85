"""gate: what a person asks from outside is done here, and here the limits are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ..state.agent import AgentState, Ending, Progress
from ..state.context import RunContext, can_ask, run_context
from ..state.planning import AnyAgentState
from .clock import clocked
from .context import Begin
from .ending import limit_ending, stopped_ending
from .equipment import Equipment, agent_path
from .limit_question import limit_question, raised_limits
from .limits import LENT, Met
from .node import node, route
from .orders import (
    GO_ON,
    STOP,
    asks,
    is_pause_answer,
    new_orders,
    pause_question,
    place_after,
    words_of,
)
from .progress import current_progress
from .view import said


def gate_node(equipment: Equipment) -> RunnableCallable:
    """The node that obeys pause, stop and say, and asks whether the task may use more than its limits."""

    async def gate(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        context = run_context(runtime)
        progress = current_progress(state, context)
        orders = await new_orders(config, progress["inbox"])
        messages, place = words_of(orders), place_after(orders, progress["inbox"])
        counted: dict[str, Any] = {**clocked(progress, config), "inbox": place}
        met = equipment.meter(progress, runtime).met(progress, config)
        path = [*agent_path(config), equipment.spec.name]
        if asks(orders, "stop"):
            # What was said too is for the run that goes on after the stop.
            counted["inbox"] = {**place, "words": progress["inbox"]["words"]}
            return _update(state, progress, counted, ending=stopped_ending())
        if met:
            raised = {} if context.fixed_limits or not can_ask(runtime) else ask_for_more(met, path)
            if not raised:
                return _update(state, progress, counted, ending=limit_ending(met.kind))
            counted["raised"] = {**progress["raised"], **raised}
        if asks(orders, "pause"):
            answer = paused(path)
            if answer == STOP:
                return _update(state, progress, counted, ending=stopped_ending())
            messages += spoken(answer, place["orders"])
        return _update(state, progress, counted, messages) if orders or met else {}

    return node(gate)


def route_gate(begin: Begin) -> RunnableCallable:
    """`terminate` if the task is to end, else what begins a step."""

    async def after_gate(state: AnyAgentState) -> str:
        return "terminate" if state["progress"]["ending"] else begin(state)

    return route(after_gate)


def route_start(begin: Begin) -> RunnableCallable:
    """`gate` where a person said something before the task began, else what begins a step."""

    async def after_start(state: AnyAgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> str:
        progress = state.get("progress")
        place = progress["inbox"] if progress else run_context(runtime).inbox
        return "gate" if await new_orders(config, place) else begin(state)

    return route(after_start)


def paused(path: Sequence[str]) -> str:
    """What a person answers to a pause; nothing where it is to go on."""
    answer = interrupt(pause_question(path))
    while not is_pause_answer(answer):
        answer = interrupt(pause_question(path))
    return "" if not isinstance(answer, str) or answer == GO_ON else answer


def spoken(answer: str, number: int) -> list[HumanMessage]:
    """The words with which a person ended a pause, as a message."""
    return [said(answer, f"pause-{number}")] if answer.strip() else []


def _update(
    state: AgentState,
    progress: Progress,
    counted: Mapping[str, Any],
    messages: Sequence[HumanMessage] = (),
    ending: Ending | None = None,
) -> dict[str, Any]:
    """All of it in one update: what was acted on is never acted on again."""
    update: dict[str, Any] = {"progress": {**progress, **counted, "ending": ending}}
    if messages:
        update["messages"] = list(messages)
    return update if state.get("status") == "running" else {**update, "status": "running", "outcome": None}


def ask_for_more(met: Met, path: Sequence[str]) -> dict[str, float]:
    """What a person raises the limits to; nothing if the task is to end there."""
    answer = interrupt(limit_question(met.kind, met.used, met.bound, path))
    while met.is_lease and isinstance(answer, Mapping):
        # Limits by name are the run's. It gave this agent its part of the raise, which was too little.
        answer = interrupt(limit_question(met.kind, met.used, met.bound, path))
    raised = raised_limits(answer, met.kind)
    if raised.get(met.kind, 0) <= met.bound:
        return {}
    return {f"{LENT}{kind}": bound for kind, bound in raised.items()} if met.is_lease else raised
