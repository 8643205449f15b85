"""Whether the end of a history is a loop: actions, failures or texts that repeat, or steps that alternate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

from .reply import text_of
from .view import is_task

LoopKind = Literal["repeated_action", "repeated_error", "repeated_text", "alternating"]

SAME_ACTION = 4
"""Equal actions with equal results that make a loop (OpenHands' stuck detector)."""

SAME_ERROR = 3
"""Equal actions that all fail that make a loop."""

ALTERNATING = 6
"""Steps of an A-B-A-B-A-B pattern that make a loop."""

SENDING = ("command", "input", "keys", "restart")
"""Arguments of `bash` with which a call does more than wait."""


@dataclass(frozen=True)
class Loop:
    """A loop at the end of a history."""

    kind: LoopKind
    """What repeats."""

    repeats: int
    """How often it was seen."""

    start: int
    """Place in the messages where the loop begins."""


class Step(NamedTuple):
    """One reply with the results of its calls."""

    place: int
    """Its place in the messages."""

    text: str
    """What it says."""

    actions: list[tuple[str, dict[str, Any]]]
    """Name and arguments of each call."""

    results: list[tuple[str, str]]
    """Status and text of each call's result."""

    @property
    def failed(self) -> bool:
        """Whether every call of the step came back as an error."""
        return bool(self.results) and all(status == "error" for status, _ in self.results)


def detect_loop(
    messages: Sequence[AnyMessage], *, duplicate_threshold: int = 2, since_last_user: bool = False
) -> Loop | None:
    """The loop at the end of `messages`, if there is one.

    Four equal actions with equal results, three equal actions that all fail, a reply whose text and actions
    `duplicate_threshold` earlier replies have too, or three rounds of two alternating steps. With `since_last_user`
    only what follows the newest message of a person counts.
    """
    first = _after_last_task(messages) if since_last_user else 0
    steps = _steps_backwards(messages, first)
    newest = next(steps, None)
    if newest is None or not _acted_so_before(messages, first, newest):
        return None
    recent = [newest, *islice(steps, ALTERNATING - 1)]
    return (
        _repeated(recent, SAME_ERROR, "repeated_error", lambda step: step.actions if step.failed else None)
        or _repeated(recent, SAME_ACTION, "repeated_action", lambda step: step.actions and (step.actions, step.results))
        or _alternating(recent)
        or _repeated_text(messages, first, newest, duplicate_threshold)
    )


def _acted_so_before(messages: Sequence[AnyMessage], first: int, newest: Step) -> bool:
    """Whether an earlier reply did the same: no loop is without one, and most replies do something new."""
    for message in messages[first : newest.place]:
        if isinstance(message, AIMessage) and len(message.tool_calls) == len(newest.actions):
            pairs = zip(message.tool_calls, newest.actions, strict=True)
            if all(call["args"] == arguments and call["name"] == name for call, (name, arguments) in pairs):
                return True
    return False


def _repeated(steps: Sequence[Step], times: int, kind: LoopKind, mark: Callable[[Step], object]) -> Loop | None:
    if len(steps) < times or not (first := mark(steps[0])):
        return None
    if any(mark(other) != first for other in steps[1:times]):
        return None
    return Loop(kind, times, steps[times - 1].place)


def _alternating(steps: Sequence[Step]) -> Loop | None:
    if len(steps) < ALTERNATING or not all(step.actions for step in steps):
        return None
    marks = [(step.actions, step.results) for step in steps]
    if marks[0] == marks[1] or any(marks[place] != marks[place % 2] for place in range(2, ALTERNATING)):
        return None
    return Loop("alternating", ALTERNATING // 2, steps[-1].place)


def _repeated_text(messages: Sequence[AnyMessage], first: int, newest: Step, threshold: int) -> Loop | None:
    if not newest.text:
        return None
    _, *same = newest
    equal = [step.place for step in _steps_backwards(messages, first, like=newest) if list(step[1:]) == same]
    return Loop("repeated_text", len(equal), equal[-1]) if len(equal) > threshold else None


def _steps_backwards(messages: Sequence[AnyMessage], first: int, like: Step | None = None) -> Iterator[Step]:
    """The steps from the newest to the one at `first`; only those that say and do what `like` does, if it is given."""
    for place in range(len(messages) - 1, first - 1, -1):
        message = messages[place]
        if not isinstance(message, AIMessage):
            continue
        text = text_of(message.content).strip()
        if like and text != like.text:
            continue
        if message.tool_calls and all(_is_poll(call, messages, place) for call in message.tool_calls):
            continue
        actions = [(call["name"], call["args"]) for call in message.tool_calls]
        if like and actions != like.actions:
            continue
        yield Step(place, text, actions, _results(messages, place))


def _results(messages: Sequence[AnyMessage], place: int) -> list[tuple[str, str]]:
    """Status and text of what the calls of the reply at `place` brought."""
    results: list[tuple[str, str]] = []
    for following in range(place + 1, len(messages)):
        message = messages[following]
        if not isinstance(message, ToolMessage):
            break
        results.append((message.status, text_of(message.content) + _picture(message)))
    return results


def _picture(message: ToolMessage) -> str:
    """Name of the picture after an action, which tells it by its content from the same action on a page that moved."""
    artifact = message.artifact if message.status == "success" else None
    return str(artifact.get("screenshot", "")) if isinstance(artifact, dict) else ""


def _is_poll(call: ToolCall, messages: Sequence[AnyMessage], place: int) -> bool:
    """Whether a call only waited for more of a program that still runs: it sent nothing, and says that it runs."""
    if any(call["args"].get(name) for name in SENDING):
        return False
    for message in messages[place + 1 :]:
        if not isinstance(message, ToolMessage):
            return False
        if message.tool_call_id == call["id"]:
            return isinstance(message.artifact, dict) and message.artifact.get("running") is True
    return False


def _after_last_task(messages: Sequence[AnyMessage]) -> int:
    return next((place + 1 for place in range(len(messages) - 1, -1, -1) if is_task(messages[place])), 0)
