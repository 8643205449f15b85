"""What a task took: iterations, calls, tokens, cost, retries, and time for each node; the whole and its subtasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, ToolMessage
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from .delegation import DelegateReport, delegate_report_of
from .outcome import Usage

SECONDS = "seconds"
"""Key of a tool message's `response_metadata` with the seconds that its call took."""

DIGITS = 3
"""Decimals of seconds that are kept."""


class Counts(TypedDict):
    """Counters of a task beside its steps and usage. They stand in its progress, and do not grow with the steps."""

    place: int
    """Place in `messages` up to which results are counted in."""

    tool_calls: int
    """Calls of tools that have a result, those of delegates included."""

    retries: int
    """Further tries of model calls, those of delegates included."""

    nodes: dict[str, float]
    """Seconds of work by node; those of another agent's nodes under `<agent>/<node>`."""


class TaskMetrics(BaseModel):
    """What a task, or a part of it that one agent did, took."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    agent: str = ""
    """Name of the agent; empty for all agents of a run together."""

    level: int = 0
    """Delegations above it: the seed's DELEGATE_LEVEL."""

    iterations: int = 0
    """Think-act cycles."""

    tool_calls: int = 0
    """Calls of tools that have a result."""

    retries: int = 0
    """Further tries of model calls."""

    seconds: float = 0.0
    """Seconds of work, without the time spent waiting for a person."""

    nodes: dict[str, float] = Field(default_factory=dict)
    """Seconds by node."""

    usage: Usage = Usage()
    """Calls of models, their tokens and cost."""


def no_counts(place: int = 0) -> Counts:
    """The counters of a task that begins where the history has `place` messages."""
    return Counts(place=place, tool_calls=0, retries=0, nodes={})


def with_results(counts: Counts, history: Sequence[AnyMessage]) -> Counts:
    """The counters with the results that came since they were last counted."""
    for message in history[counts["place"] :]:
        if not isinstance(message, ToolMessage):
            continue
        counts = {**counts, "tool_calls": counts["tool_calls"] + 1}
        if report := delegate_report_of(message):
            counts = with_seconds(counts, f"delegate_{report.agent}", report.seconds)
            counts = with_counts(counts, report.counts, report.agent)
        else:
            counts = with_seconds(counts, "act", message.response_metadata.get(SECONDS, 0.0))
    return {**counts, "place": len(history)}


def with_counts(counts: Counts, others: Mapping[str, Any], agent: str) -> Counts:
    """The counters with those of another agent's task."""
    for node, seconds in others.get("nodes", {}).items():
        counts = with_seconds(counts, f"{agent}/{node}", seconds)
    return {
        **counts,
        "tool_calls": counts["tool_calls"] + others.get("tool_calls", 0),
        "retries": counts["retries"] + others.get("retries", 0),
    }


def with_seconds(counts: Counts, node: str, seconds: float) -> Counts:
    """The counters with seconds of one node."""
    total = round(counts["nodes"].get(node, 0.0) + seconds, DIGITS)
    return {**counts, "nodes": {**counts["nodes"], node: total}}


def run_metrics(progress: Mapping[str, Any]) -> TaskMetrics:
    """What all agents of a run took together, by the progress of the outermost one."""
    counts = progress.get("counts") or no_counts()
    return TaskMetrics(
        iterations=progress.get("iteration", progress.get("steps", 0)),
        tool_calls=counts["tool_calls"],
        retries=counts["retries"],
        seconds=round(progress.get("seconds", 0.0), DIGITS),
        nodes=counts["nodes"],
        usage=Usage.model_validate(progress.get("usage") or {}),
    )


def subtask_metrics(agent: str, values: Mapping[str, Any]) -> list[TaskMetrics]:
    """What each part of a run took: the agent's own first, then each task that it delegated, or step of its plan.

    Args:
        agent: name of the agent, or of the planner.
        values: the state of its thread.
    """
    progress, task = values.get("progress") or {}, (values.get("progress") or {}).get("task", 0)
    task_turns = progress.get("turns", 0)
    reports = [report for message in values.get("messages", [])[task:] if (report := delegate_report_of(message))]
    reports += [DelegateReport.model_validate(turn["report"]) for turn in values.get("turns", [])[task_turns:]]
    parts = [*map(_of_delegate, reports), *map(_of_step, values.get("reports") or [])]
    total = run_metrics(progress)
    return [_own(agent, total, parts), *parts]


def _own(agent: str, total: TaskMetrics, parts: Sequence[TaskMetrics]) -> TaskMetrics:
    own = {node: seconds for node, seconds in total.nodes.items() if "/" not in node}
    worked = sum(seconds for node, seconds in own.items() if not node.startswith("delegate_"))
    return TaskMetrics(
        agent=agent,
        level=0,
        iterations=total.iterations - sum(part.iterations for part in parts),
        tool_calls=total.tool_calls - sum(part.tool_calls for part in parts),
        retries=total.retries - sum(part.retries for part in parts),
        seconds=round(worked, DIGITS),
        nodes=own,
        usage=_without(total.usage, [part.usage for part in parts]),
    )


def _of_delegate(report: DelegateReport) -> TaskMetrics:
    counts: Any = {**no_counts(), **report.counts}
    return TaskMetrics(
        agent=report.agent,
        level=report.level,
        iterations=report.iterations,
        tool_calls=counts["tool_calls"],
        retries=counts["retries"],
        seconds=round(report.seconds, DIGITS),
        nodes=counts["nodes"],
        usage=report.usage,
    )


def _of_step(report: Mapping[str, Any]) -> TaskMetrics:
    counts: Any = {**no_counts(), **report.get("counts", {})}
    return TaskMetrics(
        agent=f"{report['step']} ({report['agent']})",
        level=1,
        iterations=report["steps"],
        tool_calls=counts["tool_calls"],
        retries=counts["retries"],
        seconds=round(report["seconds"], DIGITS),
        nodes=counts["nodes"],
        usage=Usage.model_validate(report["usage"]),
    )


def _without(usage: Usage, parts: Sequence[Usage]) -> Usage:
    taken = sum(parts, Usage())
    left = {name: max(0, getattr(usage, name) - getattr(taken, name)) for name in Usage.model_fields}
    return Usage(**left)
