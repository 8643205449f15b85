"""think, for an agent that is a function of the hub's interface: `step(state) -> action`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from inspect import isawaitable, iscoroutinefunction
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send

from ..state.agent import Ending, Progress
from ..state.context import RunContext, run_context
from ..state.errors import ModelError, UsageError
from ..state.event_messages import ACTION, action_of_call
from ..state.events import Action, AddTaskAction, MessageAction, ModifyTaskAction
from ..state.messages import Fresh
from ..state.metrics import no_counts, with_results
from ..state.plan import Plan
from ..state.planning import AnyAgentState
from ..state.step_state import State, StepState, hub_state
from .clock import clocked
from .dispatch import next_calls
from .equipment import Equipment
from .node import node, route
from .policy import may_ask, policy_in_force
from .progress import current_progress
from .reply import fresh_id

Step = Callable[[State], Action | Awaitable[Action]]
"""Moves an agent one step forward; a plain function runs in a thread."""


def step_node(step: Step) -> Callable[[Equipment], RunnableCallable]:
    """What makes the node that asks `step` for the next action."""

    def make(equipment: Equipment) -> RunnableCallable:
        async def think(state: StepState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
            context = run_context(runtime)
            progress = current_progress(state, context)
            seen = await _state(state, progress, equipment, runtime)
            try:
                action = await _decided(step, seen)
            except ModelError as error:
                ending = Ending(status="error", success=False, reason=str(error), answer="")
                return {"progress": {**progress, "ending": ending}, "status": "running", "outcome": None}
            messages = _messages(action, state.get("plan"), seen.task)
            counted = {
                "steps": progress["steps"] + 1,
                "iteration": progress["iteration"] + 1,
                "counts": with_results(progress.get("counts") or no_counts(), state["messages"]),
                **clocked(progress, config),
            }
            update: dict[str, Any] = {"messages": Fresh(messages), "progress": {**progress, **counted}}
            if seen.extra_data != (state.get("extra_data") or {}):
                update["extra_data"] = _plain(seen.extra_data)
            return update if state.get("status") == "running" else {**update, "status": "running", "outcome": None}

        return node(think)

    return make


def route_step(equipment: Equipment) -> RunnableCallable:
    """As after a model's think, except that words alone do not end the task."""

    async def after_step(
        state: AnyAgentState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> str | list[Send]:
        if state["progress"]["ending"]:
            return "terminate"
        if await may_ask(state["messages"], equipment, runtime):
            return "assess"
        return next_calls(state, equipment, config, runtime) or "check_stuck"

    return route(after_step)


async def _state(state: StepState, progress: Progress, equipment: Equipment, runtime: Runtime[RunContext]) -> State:
    context, meter = run_context(runtime), equipment.meter(progress, runtime)
    bounds = [bound for bound in (meter.own.steps, meter.run.steps) if bound is not None]
    # The function may change its data in place, and a channel's value is not to be changed so.
    values = {**state, "progress": progress, "extra_data": _plain(state.get("extra_data") or {})}
    return hub_state(
        values,
        agent=equipment.spec.name,
        status="running",
        confirmation_mode=await policy_in_force(equipment, runtime) != "never",
        max_iterations=min(bounds, default=None),
        root_task=context.root_task,
    )


async def _decided(step: Step, state: State) -> Action:
    is_async = iscoroutinefunction(step) or iscoroutinefunction(getattr(step, "__call__", None))  # noqa: B004 - its type
    said = step(state) if is_async else await asyncio.to_thread(step, state)
    action = await said if isawaitable(said) else said
    if not isinstance(action, Action):
        raise UsageError(f"step() gave {action!r:.80}, which is no action: return one of clew.state.events")
    return action


def _messages(action: Action, plan: Plan | None, title: str) -> list[AnyMessage]:
    if isinstance(action, MessageAction) and not action.tool:
        return [AIMessage(action.content, id=fresh_id(), response_metadata=_made_of(action))]
    problem, identifier = "", f"call_{fresh_id()[:16]}"
    try:
        arguments = _arguments(action, plan, title)
    except UsageError as error:
        problem, arguments = str(error), action.call_arguments()
    call = {"name": action.tool, "args": arguments, "id": identifier, "type": "tool_call"}
    derived = action_of_call(call)
    bare = {"call_id": identifier, "id": derived.id, "thought": "", "reply_id": ""}
    metadata = {} if derived == action.model_copy(update=bare) else _made_of(action)
    reply = AIMessage(action.thought, tool_calls=[call], id=fresh_id(), response_metadata=metadata)
    if not problem:
        return [reply]
    failure = f"Error: {problem}"
    return [reply, ToolMessage(failure, tool_call_id=identifier, name=action.tool, id=fresh_id(), status="error")]


def _arguments(action: Action, plan: Plan | None, title: str) -> dict[str, Any]:
    if isinstance(action, AddTaskAction):
        return action.planning_arguments(plan, title)
    if isinstance(action, ModifyTaskAction) and action.plan_id is None:
        return action.planning_arguments(plan)
    return action.call_arguments()


def _made_of(action: Action) -> dict[str, Any]:
    return {ACTION: action.to_dict()}


def _plain(data: dict[str, Any]) -> dict[str, Any]:
    try:
        copied: dict[str, Any] = json.loads(json.dumps(data))
    except (TypeError, ValueError) as error:
        raise UsageError(f"extra_data must be plain JSON, so that it can be kept: {error}") from error
    return copied
