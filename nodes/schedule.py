"""schedule: which steps begin, and whether any can."""

from __future__ import annotations

import time
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from ..state.agent import Ending
from ..state.context import RunContext, can_ask, run_context
from ..state.flow import FlowProgress, FlowState, StepTask
from ..state.limits import Lease, LimitKind
from ..state.plan import Plan, PlanStep
from ..state.plan_operation import StartStep, dump_operations
from ..state.plan_schedule import is_done, ready_steps
from .clock import clocked
from .ending import limit_ending, stopped_ending
from .equipment import agent_path
from .flow_equipment import FlowEquipment, steps_under_way
from .gate import paused
from .limit_question import limit_question, raised_limits
from .node import node, route
from .orders import STOP, asks, new_orders, obeyed
from .view import cut_middle

EXECUTE = "execute_step"
"""Name of the node that runs a step's agent; with several agents, `execute_step_<agent>`."""

RESULTS_LENGTH = 12_000
"""Characters of the results that a step builds on, all together."""


def schedule_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node that marks the steps that begin as in progress, or ends the run where none can.

    Where a limit of the run is met, a person may raise it.
    """

    async def schedule(state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        plan, progress, context = state["plan"], state["progress"], run_context(runtime)
        if plan is None or progress["ending"]:
            return {}
        orders = await new_orders(config, progress["inbox"])
        counted: dict[str, Any] = {**clocked(progress, config), "inbox": obeyed(orders, progress["inbox"])}
        if asks(orders, "stop"):
            return {"progress": {**progress, **counted, "ending": stopped_ending()}}
        ready = ready_steps(plan, equipment.parallel)
        if not ready:
            return {"progress": {**progress, **clocked(progress, config), "ending": _ending(plan)}}
        while kind := equipment.remaining(progress, config, context).spent_kind():
            raised = {} if not can_ask(runtime) else _asked(equipment, kind, progress, config, context)
            if not raised:
                return {"progress": {**progress, **clocked(progress, config), "ending": limit_ending(kind)}}
            progress = {**progress, "raised": {**progress["raised"], **raised}}
        if asks(orders, "pause"):
            answer = paused([*agent_path(config), "plan"])
            if answer == STOP:
                return {"progress": {**progress, **counted, "ending": stopped_ending()}}
            progress = cast(FlowProgress, {**progress, **counted})
        starting = ready[: len(equipment.leases(ready, progress, config, context))]
        begun = [StartStep(step=step.id, agent=equipment.executor(step).name, at=time.time()) for step in starting]
        update: dict[str, Any] = {"plan": dump_operations(begun)}
        return update if progress is state["progress"] else {**update, "progress": progress}

    return node(schedule)


def _asked(
    equipment: FlowEquipment, kind: LimitKind, progress: FlowProgress, config: RunnableConfig, context: RunContext
) -> dict[str, float]:
    """What a person raises the run's limits to, by kind; nothing if the run is to end there."""
    bound = getattr(equipment.limit(progress, context), kind)
    used = equipment.used(progress, config)[kind]
    raised = raised_limits(interrupt(limit_question(kind, used, bound, [*agent_path(config), "plan"])), kind)
    return raised if raised.get(kind, 0) > bound else {}


def route_schedule(equipment: FlowEquipment, nodes: dict[str, str]) -> RunnableCallable:
    """One task for each step that is in progress, to the node of its agent; `finalize` where there is none."""

    async def after_schedule(
        state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> str | list[Send]:
        plan, progress = state["plan"], state["progress"]
        if plan is None or progress["ending"]:
            return "finalize"
        steps = steps_under_way(plan)
        leases = equipment.leases(steps, progress, config, run_context(runtime))
        return [
            Send(nodes[equipment.executor(step).name], _task(plan, step, lease, progress))
            for step, lease in zip(steps, leases, strict=True)
        ]

    return route(after_schedule)


def _task(plan: Plan, step: PlanStep, lease: Lease, progress: FlowProgress) -> StepTask:
    bare = plan.with_steps(each.model_copy(update={"result": "", "executions": []}) for each in plan.steps)
    return StepTask(
        step=step.id,
        text=step.text,
        plan=bare.model_dump(mode="json"),
        results=_results(plan, step),
        lease=lease.model_dump(),
        inbox=progress["inbox"],
        approved=progress.get("approved", []),
    )


def _results(plan: Plan, step: PlanStep) -> str:
    if not step.depends_on:
        return "(it builds on none)"
    each = RESULTS_LENGTH // len(step.depends_on)
    sources = [plan.step(step_id) for step_id in step.depends_on]
    return "\n\n".join(f"{source.text}:\n{cut_middle(source.result or '(no result)', each)}" for source in sources)


def _ending(plan: Plan) -> Ending:
    if is_done(plan):
        return Ending(status="finished", success=True, reason="plan_completed", answer="")
    return Ending(status="stuck", success=False, reason="blocked", answer="")
