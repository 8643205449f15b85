"""`clew threads`: the threads of a database."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from typing import Any

from ...state.errors import ThreadUnreadable
from ...state.limits import Budget
from ...state.thread import ThreadRecord
from ..view import ThreadView
from .existing import open_existing
from .report import brief
from .table import print_table

TASK_WIDTH = 60
"""Characters of a task in the list."""


def run(arguments: Namespace) -> int:
    """List the threads, the one used last first; those that cannot be read are named beside the list."""
    found, unreadable = asyncio.run(_threads(arguments))
    if arguments.json:
        for record, view in found:
            print(json.dumps(thread_data(record, view), ensure_ascii=False))
    elif found:
        print_table(("thread", "status", "agent", "steps", "used", "task"), [_row(*pair) for pair in found])
    elif not unreadable:
        print('no threads yet: begin one with `clew run "…"`')
    for error in unreadable:
        print(f"clew: {error}", file=sys.stderr)
    return 1 if unreadable else 0


async def _threads(arguments: Namespace) -> tuple[list[tuple[ThreadRecord, ThreadView]], list[ThreadUnreadable]]:
    async with open_existing(arguments) as session:
        found, unreadable = [], await session.registry.unreadable()
        for record in await session.registry.list():
            try:
                found.append((record, await session.view(record)))
            except ThreadUnreadable as error:
                unreadable.append(error)
        return found, unreadable


def thread_data(record: ThreadRecord, view: ThreadView) -> dict[str, Any]:
    """A thread as JSON data."""
    return {
        "thread": record.thread,
        "status": view.status,
        "reason": view.reason,
        "answer": view.answer,
        "steps": view.steps,
        "usage": view.usage.model_dump(),
        "questions": [question.model_dump(exclude={"event"}) for question in view.questions],
        "checkpoint": view.checkpoint,
        "graph": record.graph,
        "agents": [agent.name for agent in record.agents],
        "model": record.model,
        "task": record.task,
        "workspace": record.workspace,
        "max_steps": record.max_steps,
        "limits": limits_of(record),
        "seconds": round(view.seconds, 3),
        "created": record.created.isoformat(),
        "updated": record.updated.isoformat(),
    }


def limits_of(record: ThreadRecord) -> dict[str, float]:
    """The limits that the thread was begun or resumed with, by kind."""
    return Budget.of(record).model_dump(exclude_none=True)


def standing(view: ThreadView) -> str:
    """Status and reason in a few words."""
    failed = " without success" if view.status == "finished" and not view.success else ""
    return f"{view.status}{failed} ({view.reason})" if view.reason else view.status


def _row(record: ThreadRecord, view: ThreadView) -> tuple[str, ...]:
    used = record.updated.astimezone().strftime("%Y-%m-%d %H:%M")
    agent = record.agents[0].name if record.agents else record.graph
    return (record.thread, brief(standing(view), 40), agent, str(view.steps), used, brief(record.task, TASK_WIDTH))
