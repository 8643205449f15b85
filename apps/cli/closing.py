"""The last lines of a run: what was made, where it is, how to go on or look at it."""

from __future__ import annotations

import asyncio
import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ...state.stream import EndEvent, QuestionEvent
from ...state.thread import ThreadRecord
from ..artifacts import made_files
from ..session import PAUSED
from .limits import LIMIT_FLAGS, flag_of
from .report import plural

SHOWN_FILES = 10
"""Files that are named; of more only their number is told."""


async def closing_lines(
    record: ThreadRecord, end: EndEvent, questions: Sequence[QuestionEvent], arguments: Namespace
) -> list[str]:
    """What a person is told after the end of a run."""
    workspace = Path(record.workspace) if record.workspace else None
    files = await asyncio.to_thread(made_files, workspace, record.created) if workspace else []
    return [*_made(files, workspace), *next_steps(record.thread, end, questions, arguments)]


def next_steps(thread: str, end: EndEvent, questions: Sequence[QuestionEvent], arguments: Namespace) -> list[str]:
    """The commands with which a person goes on from here."""
    resume = command("resume", thread, arguments)
    if end.status == "waiting" and end.reason == PAUSED:
        return [f"paused; go on with: {resume}"]
    if questions and all(question.kind == "limit" for question in questions):
        flags = dict.fromkeys(
            flag for question in questions for name in question.data if (flag := LIMIT_FLAGS.get(name))
        )
        return [f"go on with: {resume} {' '.join(f'{flag} N' for flag in flags)}"]
    if questions:
        return [how_to_answer(question, resume, alone=len(questions) == 1) for question in questions]
    if end.status == "limit" and end.reason in LIMIT_FLAGS:
        return [f"go on with: {resume} {flag_of(end.reason)} N"]
    if end.status in ("limit", "error", "stuck", "cancelled"):
        return [f"try again with: {resume}"]
    return [f"look at it with: {command('show', thread, arguments)}"]


def how_to_answer(question: QuestionEvent, resume: str, *, alone: bool) -> str:
    """The line that says how one question is answered; `alone` is whether the thread asks no other."""
    if question.kind != "confirm":
        return f"answer with: {resume} --answer {'' if alone else f'{question.id}='}TEXT"
    calls = [call["id"] for call in question.data.get("calls", [])]
    name = f"{calls[0] if len(calls) == 1 else 'ID'}=" if not alone or len(calls) != 1 else ""
    return f"answer with: {resume} --approve | --approve-kind | --reject {name}REASON | --edit {name}JSON"


def command(name: str, thread: str, arguments: Namespace) -> str:
    """A command about the thread, with the database that this one was given."""
    return shlex.join(["clew", name, thread, *(["--db", arguments.db] if arguments.db else [])])


def _made(files: Sequence[Path], workspace: Path | None) -> list[str]:
    if not files:
        return []
    shown = [f"  {file}" for file in files[:SHOWN_FILES]]
    more = [f"  … and {len(files) - SHOWN_FILES} more"] if len(files) > SHOWN_FILES else []
    return [f"made {plural(len(files), 'file')} in {workspace}", *shown, *more]
