"""What LangGraph streams, as typed events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage

from ..state.notices import NoticeEvent, NudgeEvent, ProgressEvent, SaidEvent, WaitEvent
from ..state.outcome import Usage
from ..state.plan import Plan
from ..state.plan_data import step_data
from ..state.stream import (
    Event,
    PlanStepEvent,
    QuestionEvent,
    ThinkEvent,
    TokenEvent,
    ToolCallData,
    ToolEndEvent,
    ToolStartEvent,
)
from .view import question_event

DELEGATES = "delegate_"
"""What the names of nodes begin with that run a delegate; the rest is the agent's name."""


class Translator:
    """Turns the parts of one run's stream (modes `tasks`, `messages` and `values`, version 2) into events."""

    def __init__(self, done: Iterable[str] = (), plan: Plan | None = None) -> None:
        """Begin.

        Args:
            done: Ids of tasks that have a result already, and are not told again.
            plan: The plan as it was last told.
        """
        self._done = frozenset(done)
        self._steps = {(plan.id, step.id): step for step in plan.steps} if plan else {}
        self._asked: set[str] = set()
        self._step_of_task: dict[str, str] = {}

    def __call__(self, part: Mapping[str, Any]) -> Iterator[Event]:
        """Events of one part; most parts have none."""
        path = [self._place(*place.partition(":")) for place in part["ns"]]
        if part["type"] == "messages":
            yield from _token(path, *part["data"])
        elif part["type"] == "custom":
            yield from _told(path, part["data"])
        elif part["type"] == "values":
            if not path and (plan := part["data"].get("plan")) is not None:
                yield from self._changed_steps(plan)
        elif part["type"] == "tasks":
            task = part["data"]
            self._remember_step(task)
            yield from self._questions(task.get("interrupts", ()))
            if task["id"] not in self._done:
                yield from _started(path, task) if "input" in task else _finished(path, task)

    def _place(self, node: str, _: str, task: str) -> str:
        """What a person knows a child graph by: the step of the plan that it does, its agent, or its node."""
        return self._step_of_task.get(task, node.removeprefix(DELEGATES))

    def _remember_step(self, task: Mapping[str, Any]) -> None:
        if isinstance(task.get("input"), Mapping) and "step" in task["input"]:
            self._step_of_task[task["id"]] = task["input"]["step"]

    def _changed_steps(self, plan: Plan) -> Iterator[PlanStepEvent]:
        for step in plan.steps:
            if self._steps.get((plan.id, step.id)) != step:
                self._steps[plan.id, step.id] = step
                yield PlanStepEvent(plan=plan.id, step=step_data(step))

    def _questions(self, interrupts: Iterable[Mapping[str, Any]]) -> Iterator[QuestionEvent]:
        for interrupt in interrupts:
            if interrupt["id"] not in self._asked:
                self._asked.add(interrupt["id"])
                yield question_event(interrupt)


def _told(path: list[str], told: Any) -> Iterator[Event]:
    if not isinstance(told, Mapping):
        return
    if told.get("kind") == "progress":
        yield ProgressEvent(path=path, **{name: told[name] for name in ("tool", "done", "total", "message")})
    elif told.get("kind") == "notice":
        yield NoticeEvent(path=path, text=str(told.get("message", "")))
    elif told.get("kind") in ("wait", "retry"):
        yield WaitEvent(path=path, message=str(told.get("message", "")), seconds=told.get("seconds", 0.0))


def _token(path: list[str], message: Any, metadata: Mapping[str, Any]) -> Iterator[Event]:
    if isinstance(message, AIMessageChunk) and message.text:
        yield TokenEvent(path=path, text=message.text)


def _started(path: list[str], task: Mapping[str, Any]) -> Iterator[Event]:
    if _runs_call(task) and isinstance(task["input"], Mapping) and "call" in task["input"]:
        yield ToolStartEvent(path=path, **_call(task["input"]["call"]).model_dump())


def _finished(path: list[str], task: Mapping[str, Any]) -> Iterator[Event]:
    result = task["result"] if isinstance(task.get("result"), Mapping) else {}
    progress = result.get("progress") or {}
    if task["name"] == "think":
        yield from (_reply(path, message, progress) for message in _messages(result, AIMessage))
    elif _runs_call(task) or task["name"] == "confirm":
        yield from (_result(path, message) for message in _messages(result, ToolMessage))
    elif task["name"] == "gate":
        yield from (SaidEvent(path=path, text=message.text) for message in _messages(result, HumanMessage))
    elif task["name"] == "check_stuck" and progress.get("nudge") and not progress.get("ending"):
        yield NudgeEvent(path=path, text=progress["nudge"])


def _runs_call(task: Mapping[str, Any]) -> bool:
    name: str = task["name"]
    return name == "act" or name.startswith(DELEGATES)


def _messages(result: Mapping[str, Any], kind: type[Any]) -> list[Any]:
    messages = result.get("messages") or []
    return [
        message for message in (messages if isinstance(messages, list) else [messages]) if isinstance(message, kind)
    ]


def _reply(path: list[str], message: AIMessage, progress: Mapping[str, Any]) -> ThinkEvent:
    return ThinkEvent(
        path=path,
        step=progress.get("steps", 0),
        text=message.text,
        tool_calls=[_call(call) for call in message.tool_calls],
        usage=Usage.model_validate(progress.get("usage") or {}),
    )


def _result(path: list[str], message: ToolMessage) -> ToolEndEvent:
    return ToolEndEvent(
        path=path,
        id=message.tool_call_id,
        name=message.name or "",
        status=message.status,
        text=message.text,
    )


def _call(call: Mapping[str, Any]) -> ToolCallData:
    return ToolCallData(id=call.get("id") or "", name=call["name"], args=call["args"])
