"""create_plan: one model call that makes the plan; a second one if the first brought none."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..prompts.load import load_prompt
from ..state.agent import Ending
from ..state.context import RunContext, run_context
from ..state.errors import ModelError, PlanError, UsageError
from ..state.flow import FlowProgress, FlowState
from ..state.inbox import inbox_start
from ..state.outcome import Usage
from ..state.plan import Plan
from ..tools.planning import Planning, new_plan_id, plan_from_arguments
from .clock import clocked
from .flow_equipment import FlowEquipment
from .node import node
from .publish import publish
from .view import is_task, sent_view

TRIES = 2
"""Calls of the planner before the default plan is taken."""

DEFAULT_STEPS = ("Analyze request", "Execute task", "Verify results")
"""The plan of a planner that gives none (seed ``orchestration-flow.rst``; the original's fallback)."""

PLANNER_MESSAGES = 50
"""Messages of the thread that the planner sees."""


def create_plan_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node that turns the task into a plan."""

    async def create_plan(state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        task = _task(state)
        view = sent_view(state["messages"], task=task, cut=0, max_messages=PLANNER_MESSAGES)
        system = SystemMessage(load_prompt("plan_create", agents=equipment.describe_agents()))
        progress = first_progress(state, task)
        title = state["messages"][task].text.strip().partition("\n")[0][:80] or "The task"
        try:
            plan, usage = await _ask(equipment, [system, *view.messages], title, config, runtime)
        except ModelError as error:
            ending = Ending(status="error", success=False, reason=str(error), answer="")
            return {"plan": None, "progress": {**progress, "ending": ending}, "status": "running", "outcome": None}
        await publish(plan, runtime, equipment.models.settings)
        spent = {"usage": usage.model_dump(), **clocked(progress, config)}
        return {"plan": plan, "progress": {**progress, **spent}, "status": "running", "outcome": None}

    return node(create_plan)


def first_progress(state: Mapping[str, Any], task: int) -> FlowProgress:
    """The counters with which a plan run begins."""
    return FlowProgress(
        task=task,
        steps=0,
        revisions=0,
        reports=len(state.get("reports") or []),
        usage=Usage().model_dump(),
        inbox=state["progress"]["inbox"] if "progress" in state else inbox_start(),
        raised={},
        seconds=0.0,
        clock=time.time(),
        ending=None,
    )


async def _ask(
    equipment: FlowEquipment,
    request: list[BaseMessage],
    title: str,
    config: RunnableConfig,
    runtime: Runtime[RunContext],
) -> tuple[Plan, Usage]:
    context, plan_id, usage = run_context(runtime), new_plan_id(), Usage()
    model = await equipment.models.chat_model(context)
    bound = model.bind_tools([Planning(agents=list(equipment.executors))], tool_choice="planning")
    for _ in range(TRIES):
        reply, spent = await equipment.models.ask(bound, request, context, config)
        usage += spent
        try:
            return _plan_of(reply, plan_id, title, list(equipment.executors)), usage
        except PlanError as error:
            request = [*request, *_repair(reply, str(error))]
    return plan_from_arguments({"command": "create", "title": title, "steps": DEFAULT_STEPS}, plan_id=plan_id), usage


def _plan_of(reply: AIMessage, plan_id: str, title: str, agents: list[str]) -> Plan:
    calls = [call for call in reply.tool_calls if call["name"] == "planning"]
    if not calls:
        raise PlanError("there was no valid call of `planning`")
    return plan_from_arguments(calls[0]["args"], plan_id=plan_id, title=title, agents=agents)


def _repair(reply: AIMessage, problem: str) -> Sequence[BaseMessage]:
    text = load_prompt("plan_repair", problem=problem.rstrip("."))
    if not reply.tool_calls or reply.invalid_tool_calls:
        return [HumanMessage(text)]
    return [reply, *(ToolMessage(text, tool_call_id=call["id"] or "", status="error") for call in reply.tool_calls)]


def _task(state: FlowState) -> int:
    messages = state["messages"]
    places = [place for place in range(len(messages)) if is_task(messages[place])]
    if not places:
        raise UsageError("the input has no message; give {'messages': [('user', 'the task')]}")
    return places[-1]
