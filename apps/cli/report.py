"""What a person or a program is shown of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from json import dumps
from typing import Protocol, TextIO

from ...state.notices import NoticeEvent, NudgeEvent, ProgressEvent, SaidEvent, WaitEvent
from ...state.outcome import Usage
from ...state.plan import MARKS
from ...state.plan_data import StepData
from ...state.stream import (
    DifferenceEvent,
    EndEvent,
    Event,
    PlanStepEvent,
    QuestionEvent,
    StartEvent,
    ThinkEvent,
    ToolCallData,
    ToolEndEvent,
    ToolStartEvent,
    write_event,
)
from .review import call_lines

LINE_WIDTH = 160
"""Characters of one line about a call or a result."""

DIFFERENCE_WIDTH = 200
"""Characters of one value that differs."""


class Reporter(Protocol):
    """Shows the events of a run, one after the other."""

    tokens: bool
    """Whether it wants the pieces of the replies too."""

    interactive: bool
    """Whether a person who is at the terminal sees it."""

    def show(self, event: Event) -> None:
        """Show one event."""

    def note(self, text: str) -> None:
        """Say something beside the events."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class JsonReporter:
    """One JSON event a line on stdout; notes go to stderr."""

    tokens = False
    interactive = False

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    def show(self, event: Event) -> None:
        """Print the event as one line of JSON."""
        print(write_event(event), file=self._out, flush=True)

    def note(self, text: str) -> None:
        """Print the text on stderr."""
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing was opened."""


class PlainReporter:
    """Plain lines on stdout, for pipes and files."""

    tokens = False
    interactive = False

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout

    def show(self, event: Event) -> None:
        """Print the lines of the event."""
        for line in event_lines(event):
            self.note(line)

    def note(self, text: str) -> None:
        """Print the text."""
        print(text, file=self._out, flush=True)

    def close(self) -> None:
        """Nothing was opened."""


def event_lines(event: Event) -> Iterator[str]:
    """The plain lines that say an event; none for what says nothing to a person."""
    match event:
        case StartEvent():
            going_on = ": going on" if event.resumed else ""
            yield f"thread {event.thread}{going_on}{f', {event.sandbox.description}' if event.sandbox else ''}"
        case ThinkEvent():
            yield f"{_place(event.path)}step {event.step}: {event.text.strip() or _called(event.tool_calls)}"
        case ToolStartEvent():
            yield f"{_place(event.path)}  {event.name} {brief(dumps(event.args, ensure_ascii=False))}"
        case ToolEndEvent():
            mark = "ok" if event.status == "success" else "failed"
            yield f"{_place(event.path)}  {event.name} {mark}: {brief(event.text)}"
        case NudgeEvent():
            yield f"{_place(event.path)}  repeats itself: {brief(event.text)}"
        case NoticeEvent():
            yield f"{_place(event.path)}{event.text}"
        case WaitEvent():
            yield f"{_place(event.path)}waits {event.seconds:.1f} s: {brief(event.message)}"
        case ProgressEvent():
            far = f"{event.done:g}" + (f" of {event.total:g}" if event.total else "")
            yield f"{_place(event.path)}  {event.tool} at {far}: {brief(event.message)}".removesuffix(": ")
        case SaidEvent():
            yield f"{_place(event.path)}you said: {brief(event.text)}"
        case PlanStepEvent():
            yield plan_step_line(event.step)
        case QuestionEvent():
            yield from question_lines(event)
        case DifferenceEvent():
            was, now = (brief(dumps(value, ensure_ascii=False), DIFFERENCE_WIDTH) for value in (event.was, event.now))
            yield f"differs: step {event.step}, {event.name}, {event.field}: was {was}, now {now}"
        case EndEvent():
            yield from end_lines(event)


def question_lines(question: QuestionEvent) -> Iterator[str]:
    """The lines that put a question to a person."""
    if question.kind == "plan":
        yield from str(question.data.get("text", "")).splitlines()
    yield f"{_place(question.path)}asks ({question.kind}): {question.question}"
    if question.kind == "confirm":
        yield from call_lines(question)
        return
    yield from (f"  {number}. {option}" for number, option in enumerate(question.options, 1))


def plan_step_line(step: StepData) -> str:
    """One step of a plan with its mark."""
    agent = f" ({step.agent})" if step.agent else ""
    attempt = f", attempt {step.attempts}" if step.attempts > 1 else ""
    note = f": {brief(step.notes.splitlines()[-1])}" if step.notes and step.status != "completed" else ""
    return f"{MARKS[step.status]} {step.id} {brief(step.text, 100)}{agent}{attempt}{note}"


def end_lines(end: EndEvent) -> Iterator[str]:
    """The lines that say how a run ended."""
    if end.answer:
        yield ""
        yield end.answer
    yield ""
    failed = "" if end.success or end.status != "finished" else ", without success"
    yield f"{end.status}{failed} ({end.reason}) after {plural(end.steps, 'step')}; {usage_text(end.usage)}"


def usage_text(usage: Usage) -> str:
    """What a task used, as part of a line."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    cost = f", cost {usage.cost:.4f}" if usage.cost else ""
    calls = plural(usage.llm_calls, "model call")
    return f"{calls}, {usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out{cost}"


def brief(text: str, width: int = LINE_WIDTH) -> str:
    """The text in one line, cut to the width."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def plural(count: int, noun: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def size_text(size: int) -> str:
    """Bytes in a few letters: `712 B`, `3.4 kB`, `1.2 MB`."""
    if size < 1000:
        return f"{size} B"
    amount, units = size / 1000, iter(("kB", "MB", "GB", "TB"))
    unit = next(units)
    while amount >= 999.95 and unit != "TB":
        amount, unit = amount / 1000, next(units)
    return f"{amount:.1f} {unit}"


def _called(calls: list[ToolCallData]) -> str:
    return f"calls {', '.join(call.name for call in calls)}" if calls else "(nothing)"


def _place(path: list[str]) -> str:
    return f"{'/'.join(path)}: " if path else ""
