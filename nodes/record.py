"""record: what became of the steps that ran."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..state.context import RunContext
from ..state.flow import FlowProgress, FlowState, StepReport
from ..state.metrics import Counts, no_counts, with_counts
from ..state.outcome import Usage
from ..state.plan import PlanStep, ToolExecution
from ..state.plan_fold import apply_operations
from ..state.plan_operation import (
    ClosePlan,
    EditStep,
    FinishStep,
    MarkStep,
    OpenPlan,
    PlanOperation,
    StepOperation,
    dump_operations,
    read_operations,
)
from .clock import clocked
from .ending import stopped_ending
from .flow_equipment import FlowEquipment
from .node import node, route
from .publish import publish
from .view import cut_middle

NOTE_LENGTH = 1_000
"""Characters of a note that says what went wrong."""


def record_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node that folds the reports of a wave into the plan: what was earned, and what its agents asked for."""

    async def record(state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        plan, progress = state["plan"], state["progress"]
        reports = state["reports"][progress["reports"] :]
        if plan is None or not reports:
            return {}
        asked = [item for report in reports for item in earned_only(read_operations(report["operations"]))]
        verdicts = [item for report in reports for item in _verdict(plan.step(report["step"]), report, equipment)]
        operations = [*asked, *verdicts]
        inbox = progress["inbox"]
        usage = sum((Usage.model_validate(report["usage"]) for report in reports), Usage(**progress["usage"]))
        await publish(apply_operations(plan, operations), runtime, equipment.models.settings)
        counters = {
            "steps": progress["steps"] + sum(report["steps"] for report in reports),
            "reports": len(state["reports"]),
            "usage": usage.model_dump(),
            "approved": _approved(progress, reports),
            "counts": _counted(progress, reports),
            "inbox": {**inbox, "orders": max([inbox["orders"], *(report["orders"] for report in reports)])},
            **clocked(progress, config, at_least=max(report["seconds"] for report in reports)),
        }
        stopped = any(report["status"] == "cancelled" for report in reports)
        ending = stopped_ending() if stopped else progress["ending"]  # a stop is for the whole run
        return {"plan": dump_operations(operations), "progress": {**progress, **counters, "ending": ending}}

    return node(record)


def _counted(progress: FlowProgress, reports: Iterable[StepReport]) -> Counts:
    counts = progress.get("counts") or no_counts()
    for report in reports:
        counts = with_counts(counts, report.get("counts") or no_counts(), report["agent"])
    return counts


def _approved(progress: FlowProgress, reports: Iterable[StepReport]) -> list[str]:
    kinds = [kind for report in reports for kind in report.get("approved", [])]
    return list(dict.fromkeys([*progress.get("approved", []), *kinds]))


def route_record(equipment: FlowEquipment) -> RunnableCallable:
    """`revise` where the policy asks for it and revisions are left, else `schedule`."""

    async def after_record(state: FlowState) -> str:
        plan, progress = state["plan"], state["progress"]
        if plan is None or progress["ending"] or progress["revisions"] >= equipment.max_revisions:
            return "schedule"
        wanted = {
            "always": plan.count("completed") < len(plan.steps),
            "on_failure": plan.count("blocked") > 0,
            "never": False,
        }
        return "revise" if wanted[equipment.revise] else "schedule"

    return route(after_record)


def earned_only(operations: Iterable[PlanOperation]) -> list[StepOperation]:
    """The changes inside the plan, without claims that a step is under way or done: a report alone shows that."""
    return [
        item.model_copy(update={"status": None})
        if isinstance(item, MarkStep) and item.status in ("completed", "in_progress")
        else item
        for item in operations
        if not isinstance(item, OpenPlan | ClosePlan)
    ]


def _verdict(step: PlanStep, report: StepReport, equipment: FlowEquipment) -> list[StepOperation]:
    """Completed if the agent finished with success; else tried again, given to the primary agent, or blocked."""
    executions = [ToolExecution.model_validate(item) for item in report["executions"]]
    if report["status"] == "finished" and report["success"]:
        return [_finish(step, "completed", result=report["answer"], executions=executions)]
    if report["status"] == "cancelled":
        return [_finish(step, "not_started", executions=executions)]
    note = cut_middle(_what_went_wrong(step, report), NOTE_LENGTH)
    if step.attempts <= equipment.retries:
        return [_finish(step, "not_started", note=note, executions=executions)]
    if report["agent"] != equipment.primary:
        again = _finish(step, "not_started", note=note, executions=executions)
        return [EditStep(step=step.id, agent=equipment.primary), again]
    return [_finish(step, "blocked", note=note, executions=executions)]


def _finish(step: PlanStep, status: Any, **fields: Any) -> FinishStep:
    return FinishStep(step=step.id, status=status, at=time.time(), **fields)


def _what_went_wrong(step: PlanStep, report: StepReport) -> str:
    answer = " ".join(report["answer"].split()).rstrip(".")
    said = f"; it said: {answer}" if answer else ""
    ended = report["status"] if report["status"] != "finished" else "failure"
    reason = f" ({report['reason']})" if report["reason"] not in ("", ended, "terminate") else ""
    return f"Attempt {step.attempts} by {report['agent']} ended with {ended}{reason}{said}."
