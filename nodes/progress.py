"""The counters of the task that a thread is on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import cast

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig

from ..state.agent import AgentState, Progress
from ..state.context import RunContext
from ..state.delegation import delegate_reports
from ..state.errors import UsageError
from ..state.metrics import no_counts
from ..state.outcome import Usage
from .clock import clocked
from .ending import stopped_ending
from .services import used_by_tools
from .view import is_task

LONG_ACT = 1.0
"""Seconds of an act that are counted at once, in a write of their own."""


def current_progress(state: AgentState, context: RunContext) -> Progress:
    """The counters of the running task; fresh ones where the newest message sets a new task.

    A new task starts its step count, its limit and its search for loops anew. The history stays, and with it the
    place where the sent part begins.
    """
    history, progress = state["messages"], state.get("progress")
    if not history:
        raise UsageError("the input has no message; give {'messages': [('user', 'the task')]}")
    newest = len(history) - 1
    is_new = progress is None or (is_task(history[newest]) and newest > progress["task"])
    if progress and state.get("status") == "running" and not is_new:
        return progress
    return Progress(
        task=_newest_task(history),
        steps=0,
        level=context.level,
        iteration=context.iteration,
        delegated=len(history),
        raised={},
        inbox=progress["inbox"] if progress else context.inbox,
        seconds=0.0,
        clock=time.time(),
        cut=progress["cut"] if progress else 0,
        watch=newest,
        nudge="",
        calibration=progress["calibration"] if progress else 1.0,
        usage=Usage().model_dump(),
        counts=no_counts(len(history)),
        ending=None,
    )


def up_to_date(progress: Progress, history: Sequence[AnyMessage], config: RunnableConfig) -> Progress:
    """The counters with what delegates and tools used whose results came since, and with the time of a long act.

    That time is counted at once: what follows may be a question, whose wait it must not pass for a part of.

    They are the same where neither is the case; `think` counts the time of a short act in.
    """
    since = history[progress["delegated"] :]
    reports, asked = list(delegate_reports(since)), list(used_by_tools(since))
    now = clocked(progress, config, at_least=max((report.seconds for report in reports), default=0.0))
    if not reports and not asked:
        return cast(Progress, {**progress, **now}) if now["seconds"] - progress["seconds"] >= LONG_ACT else progress
    usage = sum([*(report.usage for report in reports), *asked], Usage.model_validate(progress["usage"]))
    iteration = progress["iteration"] + sum(report.iterations for report in reports)
    approved = [
        kind for kinds in (progress.get("approved", []), *(each.approved for each in reports)) for kind in kinds
    ]
    counted = {"iteration": iteration, "delegated": len(history), "usage": usage.model_dump(), **now}
    if orders := max((report.orders for report in reports), default=0):
        counted["inbox"] = {**progress["inbox"], "orders": max(orders, progress["inbox"]["orders"])}
    if any(report.status == "cancelled" for report in reports):
        counted["ending"] = stopped_ending()  # a stop is for the whole run
    if approved:
        counted["approved"] = list(dict.fromkeys(approved))
    return cast(Progress, {**progress, **counted})


def _newest_task(history: Sequence[AnyMessage]) -> int:
    places = range(len(history) - 1, -1, -1)
    return next((place for place in places if is_task(history[place])), len(history) - 1)
