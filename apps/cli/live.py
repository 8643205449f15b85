"""What a person sees on a terminal while a run goes on: lines that stay, and below them one that moves."""

from __future__ import annotations

from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.text import Text

from ...state.notices import NudgeEvent
from ...state.outcome import Usage
from ...state.stream import (
    EndEvent,
    Event,
    QuestionEvent,
    ThinkEvent,
    TokenEvent,
    ToolEndEvent,
    ToolStartEvent,
)
from .report import brief, event_lines, usage_text
from .review_panel import review

STYLES = {
    "start": "dim",
    "think": "bold",
    "tool_start": "cyan",
    "tool_end": "dim",
    "nudge": "yellow",
    "notice": "yellow",
    "plan_step": "blue",
    "question": "magenta",
    "difference": "yellow",
}


class LiveReporter:
    """Coloured lines, and a last line with step, tool, tokens and cost, or the reply that the model is writing."""

    tokens = True
    interactive = True

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console()
        self._status: Status | None = None
        self._tools: dict[str, str] = {}
        self._usage = Usage()
        self._reply = ""
        self._step = 0

    def show(self, event: Event) -> None:
        """Print the lines of the event and renew the moving line."""
        self._follow(event)
        if isinstance(event, EndEvent):
            self.close()
            self._end(event)
            return
        self._lines(event)
        if not isinstance(event, QuestionEvent):
            self._move()

    def note(self, text: str) -> None:
        """Print the text above the moving line."""
        self._console.print(Text(text))

    def close(self) -> None:
        """Take the moving line away."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def _follow(self, event: Event) -> None:
        match event:
            case TokenEvent():
                self._reply += event.text
            case ThinkEvent():
                self._reply, self._step, self._usage = "", event.step, event.usage
            case ToolStartEvent():
                self._tools[event.id] = event.name
            case ToolEndEvent():
                self._tools.pop(event.id, None)
            case NudgeEvent():
                self._reply = ""

    def _lines(self, event: Event) -> None:
        style = STYLES.get(event.event, "")
        if isinstance(event, ToolEndEvent) and event.status == "error":
            style = "red"
        if isinstance(event, QuestionEvent) and event.kind == "confirm":
            first, *_ = event_lines(event)
            self._console.print(Text(first, style=style), review(event))
            return
        for line in event_lines(event):
            self._console.print(Text(line, style=style))

    def _move(self) -> None:
        doing = brief(self._reply[-200:], 80) or ", ".join(self._tools.values()) or "thinking"
        text = Text(f"step {self._step + (not self._tools)} · {doing} · {usage_text(self._usage)}", style="dim")
        if self._status is None:
            self._status = self._console.status(text)
            self._status.start()
        else:
            self._status.update(text)

    def _end(self, end: EndEvent) -> None:
        if end.answer:
            self._console.print()
            self._console.print(Markdown(end.answer))
        *_, last = event_lines(end)
        self._console.print()
        self._console.print(Text(last, style="green" if end.status == "finished" and end.success else "yellow"))
