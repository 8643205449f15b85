"""The one shape of every interrupt."""

from __future__ import annotations

from typing import Any, Literal

from typing_extensions import TypedDict

QuestionKind = Literal["input", "confirm", "limit", "stuck", "paused", "plan", "tool_changed", "elicitation"]


class Question(TypedDict):
    """What a run asks a person. LangGraph's interrupt id names it; the value is plain JSON."""

    kind: QuestionKind
    """What is asked for."""

    question: str
    """One sentence for the person."""

    options: list[str]
    """Answers to choose from; empty where the answer is free text."""

    data: dict[str, Any]
    """What the person needs to decide: the tool call, the limit, the plan."""

    path: list[str]
    """Names of the agents from the outermost to the one that asks."""
