"""The calls that a person is asked about, in colour."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from ...state.stream import QuestionEvent
from .review import heading, other_arguments, shown_text

COLOURED = frozenset({"bash", "python", "diff"})
"""Languages of previews that are coloured."""

RISK_STYLES = {"low": "green", "medium": "yellow", "high": "bold red", "unknown": "bold red"}


def review(question: QuestionEvent) -> Group:
    """What stands above the question: each call with the command, the difference or the address."""
    parts: list[RenderableType] = []
    for call in question.data.get("calls", []):
        parts.append(Text(heading(call), style=RISK_STYLES.get(call["risk"], "")))
        if text := shown_text(call):
            language = call["preview"]["language"]
            shown = Syntax(text, language, theme="ansi_dark", word_wrap=True, background_color="default")
            parts.append(Padding(shown if language in COLOURED else Text(text), (0, 0, 0, 4)))
        parts += [Text(f"    {line}") for line in other_arguments(call)]
    return Group(*parts)
