"""Putting questions to the person at the terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

from ...state.stream import QuestionEvent
from ..answers import resume_value
from .decide import decide_call
from .report import Reporter

LONGEST_LINE = 65536
"""Bytes of one answer; a terminal in line mode takes fewer."""


async def ask_all(questions: Sequence[QuestionEvent], reporter: Reporter) -> dict[str, Any]:
    """The answers to the questions, by id; those from the first one on that the person leaves (Ctrl-D) are missing.

    An empty line takes the first option where there are options, and asks again where there are none. It never
    approves a call.
    """
    answers: dict[str, Any] = {}
    for question in questions:
        if len(questions) > 1:
            reporter.note(question.question)
        answer = await (_decide(question, reporter) if question.kind == "confirm" else _answer(question))
        if answer is None:
            break
        answers[question.id] = answer
    return answers


async def _decide(question: QuestionEvent, reporter: Reporter) -> Any:
    decisions: dict[str, Any] = {}
    for call in question.data.get("calls", []):
        decision = await decide_call(call, reporter, read_line)
        if decision is None:
            break
        decisions[call["id"]] = decision
    return {"calls": decisions} if decisions else None


async def _answer(question: QuestionEvent) -> Any:
    default = question.options[0] if question.options else ""
    prompt = f"answer [{default}]> " if default else "answer> "
    while (line := await read_line(prompt)) is not None:
        if line.strip() or default:
            return resume_value(question, line.strip() or default)
    return None


async def read_line(prompt: str) -> str | None:
    """One line from the terminal, without holding up the event loop; None at its end.

    A thread that waits in `input()` could not be stopped by Ctrl-C; a terminal hands out one whole line at a time,
    so it is read, unbuffered, when it has one.
    """
    loop, arrived, terminal = asyncio.get_running_loop(), asyncio.Event(), sys.stdin.fileno()
    print(prompt, end="", flush=True)
    loop.add_reader(terminal, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(terminal)
    line = os.read(terminal, LONGEST_LINE)
    return line.decode(errors="replace").rstrip("\r\n") if line else None
