"""The question that an agent which repeats itself is stopped with, and what each answer does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AnyMessage, RemoveMessage, ToolMessage

from ..state.agent import AgentState, Ending, Progress
from ..state.condensation import condensation_of
from ..state.question import Question
from .reply import fresh_id
from .view import said

RETRY, DROP, GO_ON, STOP = "retry", "drop", "continue", "stop"

NEVER = 2**62
"""Place in `messages` that no history reaches: the search for loops is off for the rest of the task."""


def stuck_question(what: str, kind: str, path: Sequence[str]) -> Question:
    """Ask what is to become of an agent that repeats itself though it was told so.

    Args:
        what: What repeats, in words.
        kind: The kind of the loop.
        path: Names of the agents from the outermost to the one that asks.
    """
    return Question(
        kind="stuck",
        question=(
            f"{path[-1]} repeats itself: {what}. Shall it {RETRY}, {DROP} the loop from its history and go on, "
            f"{GO_ON} because this is no loop, or {STOP}? Other words go to the agent before it retries."
        ),
        options=[RETRY, DROP, GO_ON, STOP],
        data={"loop": kind},
        path=list(path),
    )


def decided(answer: Any, state: AgentState, progress: Progress, start: int, kind: str) -> dict[str, Any]:
    """What the answer writes.

    Args:
        answer: One of the options, or words for the agent.
        state: The state of the agent.
        progress: Its counters, brought up to date.
        start: Place in the messages where the loop begins.
        kind: The kind of the loop, the reason of an end.
    """
    history = state["messages"]
    if answer == STOP:
        return {"progress": {**progress, "ending": Ending(status="stuck", success=False, reason=kind, answer="")}}
    if answer == GO_ON:
        return {"progress": {**progress, "watch": NEVER}}
    if answer == DROP:
        return _without_loop(state, progress, start)
    update: dict[str, Any] = {"progress": {**progress, "watch": len(history)}}
    if isinstance(answer, str) and answer.strip() and answer != RETRY:
        update["messages"] = [said(answer, fresh_id())]
    return update


def _without_loop(state: AgentState, progress: Progress, start: int) -> dict[str, Any]:
    """The messages of the loop leave the history, by the reducer's own removal; what a person wrote stays."""
    history = state["messages"]
    gone = [place for place in range(start, len(history)) if _is_of_loop(history[place])]

    def moved(place: int) -> int:
        return place - bisect_left(gone, place)

    left = len(history) - len(gone)
    counts = {**progress["counts"], "place": left} if "counts" in progress else None
    places = {"task": moved(progress["task"]), "cut": moved(progress["cut"]), "watch": left, "delegated": left}
    update: dict[str, Any] = {
        "messages": [RemoveMessage(id=history[place].id or "") for place in gone],
        "progress": cast(Progress, {**progress, **places, **({"counts": counts} if counts else {})}),
    }
    if state.get("condensed"):
        condensed: Mapping[str, Any] = condensation_of(state)
        moving = {name: moved(condensed[name]) for name in ("cut", "results", "images")}
        update["condensed"] = {**condensed, **moving}
    return update


def _is_of_loop(message: AnyMessage) -> bool:
    return isinstance(message, AIMessage | ToolMessage) or bool(message.additional_kwargs.get("note"))
