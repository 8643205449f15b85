"""`clew resume`: on with a thread."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import Any

from langgraph.types import Command

from ...graphs import continue_flow, continue_hub, continue_remote, continue_task
from ...nodes.orders import GO_ON
from ...state.errors import ThreadBusy, UsageError
from ...state.limits import used_kinds
from ...state.settings import Settings, load_settings
from ...state.thread import ThreadRecord
from ..answers import match_answers, raise_limits
from ..decisions import Flags, decide
from ..log import logging_to
from ..session import HUB, PLAN, Session
from ..task import task_input
from ..view import ThreadView
from .begin import overridden, seen_by_people
from .closing import command
from .converse import Conversation
from .existing import open_existing
from .limits import LIMIT_FLAGS, flag_of, given_limits

CONTINUED = frozenset({"limit", "stuck", "error", "cancelled"})
"""Statuses of ended tasks that can be taken up again."""


def run(arguments: Namespace) -> int:
    """Answer what the thread asks, or take it up where it stopped; an ended one only says how it ended."""
    settings = seen_by_people(load_settings(db=arguments.db), arguments)
    with logging_to(settings):
        return asyncio.run(_run(arguments, settings))


async def _run(arguments: Namespace, settings: Settings) -> int:
    async with open_existing(arguments, settings) as session:
        record = overridden(await session.registry.get(arguments.thread), arguments)
        view = await session.view(record)
        if view.status == "running":
            raise ThreadBusy(f"thread {record.thread} is being run by {view.reason}: wait for it or stop it")
        answers = _answers(arguments, view)
        conversation = Conversation(session, record, arguments)
        if view.status in ("finished", "rejected") or (view.status == "waiting" and view.questions and not answers):
            return await conversation.stand(view)
        return await conversation.run(await _input(session, record, view, answers, arguments), view)


def _answers(arguments: Namespace, view: ThreadView) -> dict[str, Any]:
    flags = Flags(arguments.approve, arguments.approve_kind, arguments.reject, arguments.edit)
    told = match_answers(arguments.answer, view.questions)
    decided = decide(flags, [question for question in view.questions if question.id not in told])
    going_on = {question.id: GO_ON for question in view.questions if question.kind == "paused"}
    return going_on | told | decided | raise_limits(view.questions, given_limits(arguments))


async def _input(
    session: Session, record: ThreadRecord, view: ThreadView, answers: dict[str, Any], arguments: Namespace
) -> Any:
    if answers:
        return Command(resume=answers)
    if not view.checkpoint:
        return task_input(record.task)
    values = await session.values(record)
    if values.get("status") not in CONTINUED or view.status not in CONTINUED:
        return None
    if view.status == "limit" and view.reason in LIMIT_FLAGS:
        _refuse_unless_raised(record, view, arguments)
    one = continue_remote if record.agents and record.agents[0].remote else continue_task
    return {PLAN: continue_flow, HUB: continue_hub}.get(record.graph, one)(values)


def _refuse_unless_raised(record: ThreadRecord, view: ThreadView, arguments: Namespace) -> None:
    kind = view.reason.removeprefix("max_")
    used = used_kinds(view.steps, view.usage, view.seconds).get(kind, 0)
    if given_limits(arguments).get(view.reason, 0) <= used:
        advice = f"{command('resume', record.thread, arguments)} {flag_of(view.reason)} N"
        raise UsageError(f"thread {record.thread} met its limit of {used:.6g} {kind}: `{advice}`")
