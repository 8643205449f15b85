"""schedule: which steps begin, and whether any can."""

from __future__ import annotations

import time
from typing import Any

from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send

from ..state.agent import Ending
from ..state.context import RunContext, run_context
from ..state.flow import FlowState, StepTask
from ..state.limits import Budget, split_budget
from ..state.plan import Plan, PlanStep
from ..state.plan_operation import StartStep, dump_operations
from ..state.plan_schedule import is_done, ready_steps
from .flow_equipment import FlowEquipment, steps_under_way
from .node import node, route
from .view import cut_middle

EXECUTE = "execute_step"
"""Name of the node that runs a step's agent; with several agents, `execute_step_<agent>`."""

RESULTS_LENGTH = 12_000
"""Characters of the results that a step builds on, all together."""


def schedule_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node that marks the steps that begin as in progress, or ends the run where none can."""

    async def schedule(state: FlowState, runtime: Runtime[RunContext]) -> dict[str, Any]:
        plan, progress = state["plan"], state["progress"]
        if plan is None or progress["ending"]:
            return {}
        remaining = equipment.remaining(progress, run_context(runtime))
        ready = ready_steps(plan, equipment.parallel)
        shares = split_budget(remaining, equipment.caps(ready))
        if not shares:
            return {"progress": {**progress, "ending": _ending(plan, bool(ready))}}
        starting = ready[: len(shares)]
        begun = [StartStep(step=step.id, agent=equipment.executor(step).name, at=time.time()) for step in starting]
        return {"plan": dump_operations(begun)}

    return node(schedule)


def route_schedule(equipment: FlowEquipment, nodes: dict[str, str]) -> RunnableCallable:
    """One task for each step that is in progress, to the node of its agent; `finalize` where there is none."""

    async def after_schedule(state: FlowState, runtime: Runtime[RunContext]) -> str | list[Send]:
        plan, progress = state["plan"], state["progress"]
        if plan is None or progress["ending"]:
            return "finalize"
        steps = steps_under_way(plan)
        shares = split_budget(equipment.remaining(progress, run_context(runtime)), equipment.caps(steps))
        return [
            Send(nodes[equipment.executor(step).name], _task(plan, step, share, progress.get("approved", [])))
            for step, share in zip(steps, shares, strict=True)
        ]

    return route(after_schedule)


def _task(plan: Plan, step: PlanStep, share: Budget, approved: list[str]) -> StepTask:
    bare = plan.with_steps(each.model_copy(update={"result": "", "executions": []}) for each in plan.steps)
    return StepTask(
        step=step.id,
        text=step.text,
        plan=bare.model_dump(mode="json"),
        results=_results(plan, step),
        max_steps=share.steps,
        approved=approved,
    )


def _results(plan: Plan, step: PlanStep) -> str:
    if not step.depends_on:
        return "(it builds on none)"
    each = RESULTS_LENGTH // len(step.depends_on)
    sources = [plan.step(step_id) for step_id in step.depends_on]
    return "\n\n".join(f"{source.text}:\n{cut_middle(source.result or '(no result)', each)}" for source in sources)


def _ending(plan: Plan, is_ready: bool) -> Ending:
    if is_done(plan):
        return Ending(status="finished", success=True, reason="plan_completed", answer="")
    if is_ready:
        return Ending(status="limit", success=False, reason="max_steps", answer="")
    return Ending(status="stuck", success=False, reason="blocked", answer="")
