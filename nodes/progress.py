"""The counters of the task that a thread is on."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage

from ..state.agent import AgentState, Progress
from ..state.errors import UsageError
from ..state.outcome import Usage
from .view import is_task


def current_progress(state: AgentState) -> Progress:
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
        max_steps=0,
        cut=progress["cut"] if progress else 0,
        watch=newest,
        nudge="",
        calibration=progress["calibration"] if progress else 1.0,
        usage=Usage().model_dump(),
        ending=None,
    )


def _newest_task(history: Sequence[AnyMessage]) -> int:
    places = range(len(history) - 1, -1, -1)
    return next((place for place in places if is_task(history[place])), len(history) - 1)
