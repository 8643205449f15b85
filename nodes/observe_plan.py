"""observe_plan: the live plan goes into the request, and the step to work on is marked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..prompts.load import load_prompt
from ..state.context import RunContext
from ..state.plan import Plan, PlanStep, ToolExecution
from ..state.plan_fold import apply_operations
from ..state.plan_operation import StartStep, StepOperation, TrackTools, dump_operations
from ..state.plan_schedule import current_step
from ..state.planning import PlanningState
from ..tools.plans import tool_execution
from .equipment import Equipment
from .node import node
from .publish import publish
from .view import cut_middle

PLAN_LENGTH = 8_000
"""Characters of the plan in a request."""

PLANNING = "planning"
"""Name of the tool whose calls are about the plan and not for a step of it."""


def observe_plan_node(equipment: Equipment) -> RunnableCallable:
    """The context node `plan`: seed ``planning-system.md``, steps 2 and 3 of the workflow."""

    async def observe_plan(state: PlanningState, runtime: Runtime[RunContext]) -> dict[str, Any]:
        plan, earlier = state["plan"], state.get("context") or []
        if plan is None:
            return {"context": [*earlier, HumanMessage(load_prompt("no_plan"))]}
        operations = [*_track(plan, state["messages"]), *_begin(plan)]
        plan = apply_operations(plan, operations)
        await publish(plan, runtime, equipment.models.settings)
        current = current_step(plan)
        text = load_prompt(
            "live_plan",
            plan=cut_middle(plan.render(), PLAN_LENGTH),
            step=current.text if current else "(none is left that can be worked on)",
        )
        update: dict[str, Any] = {"context": [*earlier, HumanMessage(text)]}
        return {**update, "plan": dump_operations(operations)} if operations else update

    return node(observe_plan)


def _begin(plan: Plan) -> list[StepOperation]:
    step = current_step(plan)
    return [StartStep(step=step.id, at=time.time())] if step and step.status == "not_started" else []


def _track(plan: Plan, history: Sequence[AnyMessage]) -> list[StepOperation]:
    step, executions = _worked_on(plan), _newest_executions(history)
    known = {execution.call_id for execution in step.executions} if step else set()
    fresh = [execution for execution in executions if execution.call_id not in known]
    return [TrackTools(step=step.id, executions=fresh)] if step and fresh else []


def _worked_on(plan: Plan) -> PlanStep | None:
    """The step in progress, or the one that ended last: the newest calls were made for it."""
    under_way = [step for step in plan.steps if step.status == "in_progress"]
    ended = sorted((step for step in plan.steps if step.ended), key=lambda step: step.ended or 0.0)
    return next(iter(under_way or ended[-1:]), None)


def _newest_executions(history: Sequence[AnyMessage]) -> list[ToolExecution]:
    executions = []
    for message in reversed(history):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage) and message.name != PLANNING:
            executions.append(tool_execution(message))
    return executions[::-1]
