"""`clew show`: one thread."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage, messages_to_dict

from ...state.errors import UsageError
from ...state.metrics import subtask_metrics
from ...state.settings import folder_name
from ...state.thread import ThreadRecord
from ..children import child_runs
from ..session import HUB, PLAN, Session
from ..trail import run_title, thread_trail
from ..trail_page import trail_page
from ..view import ThreadView
from .arguments import DEFAULT_FILE
from .closing import command, how_to_answer
from .existing import open_existing
from .plan_table import COLUMNS, plan_rows
from .report import brief, plural, question_lines, usage_text
from .table import print_table
from .threads import limits_of, standing, thread_data

Found = tuple[ThreadRecord, ThreadView, dict[str, Any]]

NEWEST_LINES = 8
"""Lines of the conversation that are shown of a running thread."""

SHOWN_NODES = 5
"""Nodes whose time is shown, the slowest first."""

SHOWN_SECONDS = 0.05
"""Seconds below which a node is not shown, unless it is the slowest."""

LOOKS_PER_SECOND = 2
"""How often a running thread is looked at again."""


def run(arguments: Namespace) -> int:
    """Print how the thread was started, where it stands, its plan, what was said and what it asks.

    On a terminal a thread that is running is shown live until it ends or waits.
    """
    return asyncio.run(_show(arguments))


async def _show(arguments: Namespace) -> int:
    async with open_existing(arguments) as session:
        found = await _read(session, arguments.thread)
        if arguments.html is not None:
            print(f"wrote {await _write_trail(session, arguments.html, *found)}")
            return 0
        if arguments.json:
            print(json.dumps(_data(*found), default=str))
            return 0
        if found[1].status == "running" and sys.stdout.isatty():
            found = await _watch(session, arguments.thread)
        print_lines(*found, arguments=arguments)
    return 0


async def _write_trail(
    session: Session, file: Path | str, record: ThreadRecord, view: ThreadView, values: dict[str, Any]
) -> Path:
    path = Path(f"{folder_name(record.thread)}.html") if file == DEFAULT_FILE else Path(file)
    facts = [
        (name, value)
        for name, _, value in (
            line.partition(" ") for line in [*_facts(record, view), *_measured(record, view, values)]
        )
    ]
    if plan := values.get("plan"):
        facts.append(("plan", plan.render()))
    steps = await thread_trail(values.get("messages", []), record.workspace, session.saver.blobs)
    children = []
    async for nodes, child in child_runs(session, record):
        trail = await thread_trail(child.get("messages", []), record.workspace, session.saver.blobs)
        children.append((run_title(nodes, trail), trail))
    page = trail_page(record.task, [(name, value.strip()) for name, value in facts], steps, view.answer, children)
    try:
        await asyncio.to_thread(path.write_text, page, "utf-8", "replace")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; name another file") from error
    return path


def print_lines(record: ThreadRecord, view: ThreadView, values: dict[str, Any], *, arguments: Namespace) -> None:
    """Print a thread for a person."""
    for line in [*_facts(record, view), *_measured(record, view, values), ""]:
        print(line)
    if plan := values.get("plan"):
        print(f"{plan.title}: {plan.progress()}")
        print_table(COLUMNS, plan_rows(plan, values.get("reports") or []))
    for line in [*_conversation(values.get("messages", [])), "", *_asked(view, arguments)]:
        print(line)


async def _watch(session: Session, thread: str) -> Found:
    from .watch import Watch

    with Watch() as watch:
        while (found := await _read(session, thread))[1].status == "running":
            watch.show(standing(found[1]), usage_text(found[1].usage), *_newest(found[2]))
            await asyncio.sleep(1 / LOOKS_PER_SECOND)
    return found


def _newest(values: dict[str, Any]) -> tuple[Sequence[Sequence[str]], Sequence[str]]:
    """The rows of the plan, and the newest lines of what was said."""
    plan = values.get("plan")
    rows = plan_rows(plan, values.get("reports") or []) if plan else []
    return rows, list(_conversation(values.get("messages", [])))[-NEWEST_LINES:]


def _data(record: ThreadRecord, view: ThreadView, values: dict[str, Any]) -> dict[str, Any]:
    plan = values.get("plan")
    said = {"messages": messages_to_dict(values.get("messages", []))}
    parts = [part.model_dump() for part in subtask_metrics(_own_name(record), values)]
    measured = {"metrics": {**view.metrics.model_dump(), "subtasks": parts}}
    return {**thread_data(record, view), **measured, **said, **({"plan": plan.model_dump(mode="json")} if plan else {})}


async def _read(session: Session, thread: str) -> Found:
    record = await session.registry.get(thread)
    return record, await session.view(record), await session.values(record)


def _facts(record: ThreadRecord, view: ThreadView) -> Iterator[str]:
    yield f"thread     {record.thread}"
    yield f"status     {standing(view)}"
    yield f"agent      {', '.join(agent.name for agent in record.agents) or 'none in its record'}"
    yield f"model      {record.model or 'the one of the settings'}"
    yield f"workspace  {record.workspace}"
    yield f"steps      {view.steps}{f' of {record.max_steps}' if record.max_steps else ''}"
    yield f"usage      {usage_text(view.usage)}, {view.seconds:.1f} s of work"
    if limits := limits_of(record):
        yield f"limits     {', '.join(f'{bound:g} {kind}' for kind, bound in limits.items())}"
    yield f"created    {record.created.astimezone():%Y-%m-%d %H:%M:%S}"
    yield f"used       {record.updated.astimezone():%Y-%m-%d %H:%M:%S}"


def _own_name(record: ThreadRecord) -> str:
    own = record.agents[0].name if record.agents else record.graph
    return {PLAN: "planner", HUB: HUB}.get(record.graph) or own


def _measured(record: ThreadRecord, view: ThreadView, values: dict[str, Any]) -> Iterator[str]:
    """Where the time went, and what each part took where there are several."""
    slowest = sorted(view.metrics.nodes.items(), key=lambda item: -item[1])[:SHOWN_NODES]
    slowest = [item for item in slowest if item[1] >= SHOWN_SECONDS] or slowest[:1]
    if slowest:
        yield f"time       {view.metrics.seconds:.1f} s: {', '.join(f'{node} {took:.1f}' for node, took in slowest)}"
    if view.metrics.tool_calls or view.metrics.retries:
        calls, retries = plural(view.metrics.tool_calls, "tool call"), view.metrics.retries
        yield f"calls      {calls}{f', {retries} retried model calls' if retries else ''}"
    parts = subtask_metrics(_own_name(record), values)
    for part in parts if len(parts) > 1 else ():
        took = f"{plural(part.iterations, 'step')}, {plural(part.tool_calls, 'tool call')}, {part.seconds:.1f} s"
        yield f"subtask    {part.agent}: {took}; {usage_text(part.usage)}"


def _conversation(messages: list[AnyMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ToolMessage):
            yield f"  {message.name} {'failed' if message.status == 'error' else 'ok'}: {brief(message.text)}"
        elif isinstance(message, AIMessage):
            if message.text.strip():
                yield f"agent: {message.text.strip()}"
            for call in message.tool_calls:
                yield f"  calls {call['name']} {brief(json.dumps(call['args'], ensure_ascii=False))}"
        else:
            yield f"{message.type}: {message.text.strip()}"


def _asked(view: ThreadView, arguments: Namespace) -> Iterator[str]:
    resume = command("resume", view.thread, arguments)
    for question in view.questions:
        yield from question_lines(question)
        yield f"  {how_to_answer(question, resume, alone=len(view.questions) == 1)}"
    if view.answer:
        yield f"answer: {view.answer}"
    elif view.unfinished and not view.questions and view.status != "running":
        yield f"go on with: {resume}"
