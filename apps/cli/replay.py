"""`clew replay`: a trajectory's actions done again."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from typing import Any

from langchain_core.messages import AIMessage

from ...graphs.specs import agent_spec
from ...models.load import TAKES_OVER, TRAJECTORY
from ...nodes.dispatch import unanswered_calls
from ...state.errors import UsageError
from ...state.events import MessageAction
from ...state.outcome import ENDED
from ...state.settings import Settings
from ...state.stream import EndEvent, QuestionEvent
from ...state.thread import ThreadRecord
from ...state.trajectory import Trajectory, read_trajectory
from ..log import logging_to
from ..session import Session, open_session
from ..task import task_input
from ..trajectories import differences
from .begin import Beginning, begin_settings, first_task
from .converse import Conversation
from .report import plural


def run(arguments: Namespace) -> int:
    """Do the actions of a trajectory again on a new thread, tell what comes otherwise, and go on at its end."""
    settings = begin_settings(arguments)
    with logging_to(settings):
        return asyncio.run(_run(arguments, settings))


async def _run(arguments: Namespace, settings: Settings) -> int:
    trajectory = await asyncio.to_thread(read_trajectory, arguments.file)
    if trajectory.graph != "agent":
        raise UsageError(f"{arguments.file} is the run of a {trajectory.graph}: only that of one agent is done again")
    first, *later = trajectory.tasks()
    following = arguments.model or trajectory.model or ""
    arguments.model = f"{TRAJECTORY}{arguments.file}{TAKES_OVER}{following}"
    arguments.task = first.message
    async with open_session(settings) as session:
        thread = arguments.thread or await session.new_thread_id()
        if thread in await session.registry.names():
            raise UsageError(f"thread {thread} exists: a trajectory is replayed on a new one, name another")
        record = first_task(thread, settings, arguments, Beginning("agent", [agent_spec(trajectory.agent)]))
        code = await Replay(session, record, arguments, trajectory).run(task_input(first.message))
        for number, task in enumerate(later, 1):
            values = await session.values(record)
            given = sum(isinstance(message, AIMessage) for message in values["messages"])
            if values.get("status") not in ENDED or given != trajectory.replies_before(number):
                break
            record = record.model_copy(update={"task": task.message})
            code = await Replay(session, record, arguments, trajectory).run(task_input(task.message))
        return code


class Replay(Conversation):
    """A conversation in which the trajectory answers what it has an answer to."""

    def __init__(self, session: Session, record: ThreadRecord, arguments: Namespace, trajectory: Trajectory) -> None:
        super().__init__(session, record, arguments)
        self._trajectory = trajectory

    @property
    def _asks(self) -> bool:
        return True

    async def _ask(self, questions: list[QuestionEvent]) -> dict[str, Any]:
        if known := await self._known(questions):
            return known
        return await super()._ask(questions) if super()._asks else {}

    async def _known(self, questions: list[QuestionEvent]) -> dict[str, Any]:
        """The answers that the trajectory has: what a person said to the same question of the same call."""
        messages = (await self._session.values(self._record)).get("messages", [])
        asked = {call["args"].get("inquire"): call["id"] or "" for call in unanswered_calls(messages)}
        said = self._trajectory.observations()
        return {
            question.id: said[asked[question.question]].content
            for question in questions
            if question.kind == "input" and asked.get(question.question) in said
        }

    async def _close(self, end: EndEvent) -> None:
        messages = (await self._session.values(self._record)).get("messages", [])
        found = list(differences(self._trajectory, messages, self._record.workspace))
        for difference in found:
            self._reporter.show(difference)
        self._reporter.note(f"{plural(len(found), 'difference')} from the trajectory")
        if left := sum(isinstance(event, MessageAction) and event.in_passing for event in self._trajectory.events):
            self._reporter.note(f"not said again: {plural(left, 'message')} that came while the agent worked")
        await super()._close(end)
