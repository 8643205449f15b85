"""check_stuck: does the agent repeat itself? One nudge, then a person decides, or the task ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from ..prompts.load import load_prompt
from ..state.agent import AgentState, Progress
from ..state.context import RunContext, can_ask
from ..state.planning import AnyAgentState
from .context import Begin
from .dispatch import next_calls, unanswered_calls
from .equipment import Equipment, agent_path
from .loop import Loop, detect_loop
from .node import node, route
from .orders import asks, at_the_end, new_orders
from .progress import up_to_date
from .stuck_question import STOP, decided, stuck_question

LOOK_BACK = 100
"""Messages in which a loop is looked for, so that a step costs the same however long the run is."""


def check_stuck_node(equipment: Equipment) -> RunnableCallable:
    """The node that looks for a loop once a step is complete, and asks a person about the second one."""

    async def check_stuck(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        history = state["messages"]
        progress = up_to_date(state["progress"], history, config)
        counted = {"progress": progress} if progress is not state["progress"] else {}
        if unanswered_calls(history) or _ended_by_tool(history, equipment):
            return counted
        loop = _found_loop(progress, history, equipment)
        if loop is None:
            return counted
        if progress["nudge"]:
            question = stuck_question(_describe(loop), loop.kind, [*agent_path(config), equipment.spec.name])
            answer = interrupt(question) if can_ask(runtime) else STOP
            return decided(answer, state, progress, loop.start, loop.kind)
        nudge = load_prompt("stuck", what=_describe(loop))
        return {"progress": {**progress, "nudge": nudge, "watch": len(history)}}

    return node(check_stuck)


def route_check_stuck(equipment: Equipment, begin: Begin) -> RunnableCallable:
    """`act` while calls are left, `terminate` at an end, `gate` where a limit is met or a person asks for something
    from outside, else what begins a step.
    """

    async def after_check_stuck(
        state: AnyAgentState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> str | list[Send]:
        progress, history = state["progress"], state["messages"]
        if progress["ending"]:
            return "terminate"
        if _ended_by_tool(history, equipment):
            return await at_the_end(progress, config, runtime)
        orders = await new_orders(config, progress["inbox"])
        if asks(orders, "stop"):
            return "gate"
        if calls := next_calls(state, equipment, config, runtime):
            return calls
        return "gate" if orders or equipment.meter(progress, runtime).met(progress, config) else begin(state)

    return route(after_check_stuck)


async def needs_check(
    state: AnyAgentState, equipment: Equipment, config: RunnableConfig, runtime: Runtime[RunContext]
) -> bool:
    """Whether there is anything to do between the call that has just ended and the next step.

    There is nothing after most calls, and a superstep of its own costs as much as the call's. A call beside others
    never knows how they end, so these meet in `check_stuck`.
    """
    progress, history = state["progress"], state["messages"]
    return (
        bool(unanswered_calls(history))
        or _ended_by_tool(history, equipment)
        or up_to_date(progress, history, config) is not progress
        or equipment.meter(progress, runtime).met(progress, config) is not None
        or _found_loop(progress, history, equipment) is not None
        or bool(await new_orders(config, progress["inbox"]))
    )


def _found_loop(progress: Progress, history: Sequence[AnyMessage], equipment: Equipment) -> Loop | None:
    """The loop at the end of what is watched; its place is one in the whole history."""
    first = max(progress["watch"], len(history) - LOOK_BACK)
    loop = detect_loop(history[first:], duplicate_threshold=equipment.spec.duplicate_threshold)
    return replace(loop, start=first + loop.start) if loop else None


def _ended_by_tool(history: Sequence[AnyMessage], equipment: Equipment) -> bool:
    last = history[-1]
    return isinstance(last, ToolMessage) and last.status != "error" and equipment.is_terminating(last.name or "")


def _describe(loop: Loop) -> str:
    return {
        "repeated_action": f"the same call gave the same result {loop.repeats} times",
        "repeated_error": f"the same call failed {loop.repeats} times",
        "repeated_text": f"the same reply came {loop.repeats} times",
        "alternating": f"the same two steps alternate, {loop.repeats} rounds so far",
    }[loop.kind]
