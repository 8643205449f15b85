"""Beginning a task, on a thread of its own or on an ended one."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...state.errors import UsageError
from ...state.settings import Settings, load_settings
from ...state.spec import AgentSpec
from ...state.thread import ThreadRecord
from ..log import logging_to
from ..readiness import check_workspace
from ..session import open_session
from ..task import task_input
from ..view import ThreadView
from .closing import command
from .converse import Conversation
from .limits import given_limits


@dataclass(frozen=True)
class Beginning:
    """Which graph a task is for."""

    graph: str
    """`agent` or `plan`."""

    agents: list[AgentSpec]
    """The agents, the primary one first; of those of an ended thread where the command names none."""

    options: dict[str, Any] = field(default_factory=dict)
    """Further arguments of the graph that the command gives."""

    named: bool = False
    """Whether the command names the agents."""


def begin(arguments: Namespace, settings: Settings, beginning: Beginning) -> int:
    """Run the task of the arguments and return the exit code."""
    with logging_to(settings):
        return asyncio.run(_begin(arguments, settings, beginning))


def begin_settings(arguments: Namespace) -> Settings:
    """The settings that a task begins with.

    Raises:
        UsageError: they are wrong, or name a workspace that is no folder.
    """
    settings = load_settings(db=arguments.db, workspace=arguments.workspace)
    check_workspace(settings.workspace)
    return seen_by_people(settings, arguments)


def seen_by_people(settings: Settings, arguments: Namespace) -> Settings:
    """The settings with a browser that shows its window or records what it does, where the flags ask for that."""
    flags = {"headless": False if arguments.headed else None, "trace": arguments.trace or None}
    given = {name: value for name, value in flags.items() if value is not None}
    return settings.model_copy(update={"browser": settings.browser.model_copy(update=given)}) if given else settings


async def _begin(arguments: Namespace, settings: Settings, beginning: Beginning) -> int:
    input = await asyncio.to_thread(task_input, arguments.task, arguments.image)
    async with open_session(settings) as session:
        record = await session.registry.find(arguments.thread) if arguments.thread else None
        if record:
            view = await session.view(record)
            record = _next_task(record, view, arguments, beginning)
        else:
            record = first_task(arguments.thread or await session.new_thread_id(), settings, arguments, beginning)
            view = ThreadView(record.thread)
        return await Conversation(session, record, arguments).run(input, view)


def first_task(thread: str, settings: Settings, arguments: Namespace, beginning: Beginning) -> ThreadRecord:
    """How a new thread runs: by the flags, then the agent's own model, then the settings."""
    own = beginning.agents[0].model if beginning.graph == "agent" else None
    return ThreadRecord(
        thread=thread,
        graph=beginning.graph,
        agents=beginning.agents,
        options=beginning.options,
        task=arguments.task,
        model=settled_model(arguments.model or own or settings.model),
        workspace=str(settings.workspace_of(thread)),
        headless=bool(arguments.headless),
        confirm=arguments.confirm,
    ).model_copy(update=given_limits(arguments))


def _next_task(record: ThreadRecord, view: ThreadView, arguments: Namespace, beginning: Beginning) -> ThreadRecord:
    if view.unfinished:
        resume = command("resume", record.thread, arguments)
        raise UsageError(f"thread {record.thread} is {view.status}: go on with `{resume}`, or name another thread")
    if record.graph != beginning.graph:
        raise UsageError(f"thread {record.thread} runs the graph `{record.graph}`: name another thread")
    changed: dict[str, Any] = {"agents": beginning.agents} if beginning.named else {}
    options = {**record.options, **beginning.options}
    record = overridden(record, arguments)
    return record.model_copy(update={**changed, "options": options, "task": arguments.task})


def overridden(record: ThreadRecord, arguments: Namespace) -> ThreadRecord:
    """The record with what the flags say instead of what the thread remembers."""
    changed = {
        "model": settled_model(arguments.model),
        "workspace": str(arguments.workspace.absolute()) if arguments.workspace else None,
        **given_limits(arguments),
        "headless": arguments.headless,
        "confirm": arguments.confirm,
    }
    return record.model_copy(update={name: value for name, value in changed.items() if value is not None})


def settled_model(name: str | None) -> str | None:
    """The model's name as a thread can keep it: a file of replies with its whole path."""
    kind, colon, rest = (name or "").partition(":")
    return f"{kind}:{Path(rest).absolute()}" if colon and kind in ("script", "replay", "trajectory") else name
