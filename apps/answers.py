"""What a person answers, matched to the questions of a thread."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..state.errors import UsageError
from ..state.stream import QuestionEvent


def match_answers(given: Sequence[str], questions: Sequence[QuestionEvent]) -> dict[str, Any]:
    """The resume values by interrupt id, for answers written as `TEXT` or `ID=TEXT`.

    An id may be cut to a beginning that no other question shares. A text alone answers the only question.

    Raises:
        UsageError: nothing is asked, several questions are open and an answer names none, or one is answered twice.
    """
    if given and not questions:
        raise UsageError("the thread asks nothing: resume it without --answer")
    answers: dict[str, Any] = {}
    for text in given:
        question, answer = _match(text, questions)
        if question.id in answers:
            raise UsageError(f"question {question.id} is answered twice: give one --answer for each question")
        answers[question.id] = resume_value(question, answer)
    return answers


def raise_limits(questions: Sequence[QuestionEvent], given: Mapping[str, float]) -> dict[str, Any]:
    """The answer to every question about a limit that `given` sets anew, by the names `max_steps`, `max_calls`, …"""
    limits = [question for question in questions if question.kind == "limit"]
    return {question.id: dict(given) for question in limits if given.keys() & question.data.keys()}


def resume_value(question: QuestionEvent, answer: str) -> Any:
    """What the interrupt of the question returns: a number at a limit, else the text.

    The number of an option stands for the option, and an object in JSON for itself.
    """
    text = answer.strip()
    if question.kind == "limit":
        return _number(text) or _object(text) or text
    if text.isdecimal() and 1 <= int(text) <= len(question.options) and text not in question.options:
        return question.options[int(text) - 1]
    return _object(text) or answer


def _number(text: str) -> float | None:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return None


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _match(text: str, questions: Sequence[QuestionEvent]) -> tuple[QuestionEvent, str]:
    identifier, separator, answer = text.partition("=")
    named = [question for question in questions if identifier and question.id.startswith(identifier)]
    if separator and len(named) == 1:
        return named[0], answer
    if len(questions) == 1:
        return questions[0], text
    listed = "; ".join(f"--answer {question.id}=… for {question.question!r}" for question in questions)
    raise UsageError(f"{len(questions)} questions are open, say which one is answered: {listed}")
