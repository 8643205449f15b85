"""Runs of our graphs for callers of the MCP server: each on a thread of a session, where `clew threads` lists it."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from langgraph.types import Command
from pydantic import BaseModel, Field

from ..state.errors import UsageError
from ..state.notices import ProgressEvent
from ..state.spec import AgentSpec
from ..state.stream import EndEvent, Event, PlanStepEvent, QuestionEvent, ThinkEvent, ToolStartEvent
from ..state.thread import ThreadRecord
from .answers import match_answers, resume_value
from .session import PLAN, Session
from .task import task_input

OWNER = "clew serve mcp"
"""What other processes are told of who runs a thread."""

Tell = Callable[[str], Awaitable[None]]
"""Is told what a run does, node by node."""


class AskedQuestion(BaseModel):
    """A question with which a run waits."""

    id: str = Field(description="Id of the question.")
    kind: str = Field(description="What is asked for.")
    question: str = Field(description="The question.")
    options: list[str] = Field(description="Answers to choose from; empty where the answer is free.")


class RunResult(BaseModel):
    """What a caller gets of a run: the output schema of every graph."""

    thread: str = Field(description="Id of the thread; give it with the next task, or with an answer.")
    status: str = Field(description="finished, waiting, limit, stuck, error, rejected or cancelled.")
    success: bool = Field(description="Whether the agent says that it did what was asked.")
    reason: str = Field(description="Why it ended.")
    answer: str = Field(description="What the agent has to say at the end.")
    steps: int = Field(description="Think-act cycles of the task.")
    questions: list[AskedQuestion] = Field(default_factory=list, description="What the run waits for.")


class RunArguments(BaseModel):
    """What a graph takes as a tool."""

    task: str = Field("", description="What is to be done, in plain words.")
    thread: str | None = Field(None, description="Thread of an earlier call, to go on with it.")
    answer: str | None = Field(None, description="Answer to the question with which the thread waits.")


@dataclass(frozen=True)
class ServedGraph:
    """A graph as a tool."""

    name: str
    """Name of the tool."""

    description: str
    """What it does, in a sentence."""

    agents: list[AgentSpec]
    """The agents, the primary one first."""

    is_plan: bool = False
    """Whether it plans and has the agents carry out the steps."""


class Runs:
    """Runs graphs for callers, each of whom sees only their own threads.

    Args:
        session: The database.
        model: Name of the model; None for each agent's own, then the settings'.
    """

    def __init__(self, session: Session, model: str | None) -> None:
        self._session, self._model = session, model

    async def begin(self, graph: ServedGraph, caller: str, given: RunArguments) -> tuple[ThreadRecord, Any]:
        """The thread of a call, and the input with which it goes on.

        Raises:
            UsageError: nothing is to be done, or the thread is not the caller's, or does not wait for that.
        """
        if given.thread is None:
            if not given.task:
                raise UsageError("give a task, or the thread of an earlier call")
            return self._new(graph, caller, given.task), task_input(given.task)
        record = await self.record(given.thread, caller)
        view = await self._session.view(record)
        if given.answer is not None:
            return record, Command(resume=match_answers([given.answer], view.questions))
        if given.task and not view.unfinished:
            return record.model_copy(update={"task": given.task}), task_input(given.task)
        if given.task or view.questions:
            raise UsageError(f"thread {given.thread} is {view.status}: give `answer`, or leave `thread` out")
        return record, None

    async def record(self, thread: str, caller: str) -> ThreadRecord:
        """A thread of the caller.

        Raises:
            UsageError: there is none of that id.
        """
        if not thread.startswith(_prefix(caller)):
            raise UsageError(f"no thread {thread}")
        return await self._session.registry.get(thread)

    async def answered(self, thread: str, caller: str, answers: Mapping[str, str]) -> tuple[ThreadRecord, Any]:
        """The thread of a call that asked, and the input with the answers by the ids of the questions."""
        record = await self.record(thread, caller)
        asked = {each.id: each for each in (await self._session.view(record)).questions}
        values = {name: resume_value(asked[name], text) for name, text in answers.items() if name in asked}
        return record, Command(resume=values) if values else None

    async def run(self, record: ThreadRecord, input: Any, tell: Tell) -> tuple[RunResult, list[QuestionEvent]]:
        """Drive the thread until it ends or asks."""
        end: EndEvent | None = None
        async with aclosing(self._session.drive(record, input, owner=OWNER)) as events:
            async for event in events:
                if isinstance(event, EndEvent):
                    end = event
                elif said := _said(event):
                    await tell(said)
        if end is None:
            raise UsageError(f"thread {record.thread} came to no end")
        questions = (await self._session.view(record)).questions if end.status == "waiting" else []
        return _result(end, questions), list(questions)

    def _new(self, graph: ServedGraph, caller: str, task: str) -> ThreadRecord:
        thread = f"{_prefix(caller)}{secrets.token_hex(8)}"
        own = None if graph.is_plan else graph.agents[0].model
        settings = self._session.settings
        return ThreadRecord(
            thread=thread,
            graph=PLAN if graph.is_plan else "agent",
            agents=graph.agents,
            task=task,
            model=self._model or own or settings.model,
            workspace=str(settings.workspace_of(thread)),
        )


def _prefix(caller: str) -> str:
    return f"mcp-{sha256(caller.encode()).hexdigest()[:8]}-"


def _result(end: EndEvent, questions: list[QuestionEvent]) -> RunResult:
    asked = [AskedQuestion(id=q.id, kind=q.kind, question=q.question, options=q.options) for q in questions]
    return RunResult(
        thread=end.thread,
        status=end.status,
        success=end.success,
        reason=end.reason,
        answer=end.answer,
        steps=end.steps,
        questions=asked,
    )


def _said(event: Event) -> str:
    if isinstance(event, ThinkEvent):
        return f"think: {event.text}".strip() if event.text else "think"
    if isinstance(event, ToolStartEvent):
        return f"act: {event.name}"
    if isinstance(event, ProgressEvent):
        return f"{event.tool}: {event.message or f'{event.done:g}'}"
    if isinstance(event, PlanStepEvent):
        return f"step {event.step.id}: {event.step.status}"
    return ""
