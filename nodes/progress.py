"""The counters of the task that a thread is on."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from ..state.agent import AgentState, Progress
from ..state.context import RunContext
from ..state.delegation import delegate_reports
from ..state.errors import UsageError
from ..state.outcome import Usage
from .view import is_task


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
        max_steps=0,
        cut=progress["cut"] if progress else 0,
        watch=newest,
        nudge="",
        calibration=progress["calibration"] if progress else 1.0,
        usage=Usage().model_dump(),
        ending=None,
    )


def with_delegations(progress: Progress, history: Sequence[AnyMessage]) -> Progress:
    """The counters with what the delegates took and used whose reports came since; the same where none came."""
    reports = list(delegate_reports(history[progress["delegated"] :]))
    if not reports:
        return progress
    usage = sum((report.usage for report in reports), Usage.model_validate(progress["usage"]))
    iteration = progress["iteration"] + sum(report.iterations for report in reports)
    return {**progress, "iteration": iteration, "delegated": len(history), "usage": usage.model_dump()}


def _newest_task(history: Sequence[AnyMessage]) -> int:
    places = range(len(history) - 1, -1, -1)
    return next((place for place in places if is_task(history[place])), len(history) - 1)
