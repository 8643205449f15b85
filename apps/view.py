"""Where a thread stands, read from its newest checkpoint without building its graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import Interrupt

from ..state.metrics import TaskMetrics, run_metrics
from ..state.outcome import ENDED, Outcome, Status, Usage
from ..state.stream import QuestionEvent

ThreadStatus = Status | Literal["interrupted"]
"""A status of the state, or `interrupted`: a dead process left the thread running."""

CONTROL_CHANNELS = frozenset({"__error__", "__error_source_node__", "__interrupt__", "__resume__"})
"""Channels of pending writes that say what happened to a task; a task with any other write is finished."""


@dataclass(frozen=True)
class ThreadView:
    """Where a thread stands."""

    thread: str
    """Id of the thread."""

    status: ThreadStatus = "idle"
    """`interrupted` for every unfinished task without a question; whoever knows of its process says more."""

    reason: str = ""
    """Why the task ended, or the kind of question that it waits with."""

    answer: str = ""
    """What the agent had to say at the end."""

    success: bool = True
    """Whether the agent says that it did what was asked."""

    steps: int = 0
    """Think-act cycles of the newest task, by all agents that worked on it."""

    seconds: float = 0.0
    """Seconds of work on the newest task, waits for a person left out."""

    usage: Usage = field(default_factory=Usage)
    """What the newest task used of its models."""

    metrics: TaskMetrics = field(default_factory=TaskMetrics)
    """What all agents of the newest task took together."""

    questions: list[QuestionEvent] = field(default_factory=list)
    """What the thread asks a person."""

    checkpoint: str = ""
    """Id of the newest checkpoint."""

    @property
    def unfinished(self) -> bool:
        """Whether a task was begun that has not ended."""
        return self.status not in ENDED and self.status != "idle"


def thread_config(thread: str, checkpoint: str | None = None) -> RunnableConfig:
    """The configuration that names a thread to LangGraph, and a checkpoint of it other than the newest."""
    place = {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": checkpoint}
    return {"configurable": place if checkpoint else {"thread_id": thread}}


async def view_thread(saver: BaseCheckpointSaver[Any], thread: str) -> ThreadView:
    """Read where a thread stands; `idle` for one without checkpoints."""
    saved = await saver.aget_tuple(thread_config(thread))
    if saved is None:
        return ThreadView(thread)
    view = view_checkpoint(thread, saved)
    usage = view.usage + await _unfinished_usage(saver, saved)
    return replace(view, usage=usage, metrics=view.metrics.model_copy(update={"usage": usage}))


async def _unfinished_usage(saver: BaseCheckpointSaver[Any], saved: CheckpointTuple) -> Usage:
    """What the agents used so far whose tasks follow a checkpoint: its own progress counts them when all have ended.

    LangGraph keeps the checkpoints of a task's graph under `<node>:<task id>`.
    """
    place = saved.config["configurable"]
    outer = [place["checkpoint_ns"]] if place.get("checkpoint_ns") else []
    used = Usage()
    for task in dict.fromkeys(task for task, _, _ in saved.pending_writes or []):
        for name in dict.fromkeys(due_nodes(saved.checkpoint["channel_values"])):
            own = {"thread_id": place["thread_id"], "checkpoint_ns": "|".join([*outer, f"{name}:{task}"])}
            child = await saver.aget_tuple({"configurable": own})
            if child is not None:
                progress = child.checkpoint["channel_values"].get("progress") or {}
                used += Usage.model_validate(progress.get("usage") or {}) + await _unfinished_usage(saver, child)
    return used


def view_checkpoint(thread: str, saved: CheckpointTuple) -> ThreadView:
    """Where the thread stood at one checkpoint and the writes that follow it."""
    values = saved.checkpoint["channel_values"]
    progress = values.get("progress") or {}
    questions = [question_event(item) for item in pending_interrupts(saved)]
    errors = task_errors(saved)
    outcome = outcome_of(values)
    status, reason = _status(saved, questions, errors, values.get("status"), outcome)
    ended = status in ENDED
    return ThreadView(
        thread=thread,
        status=status,
        reason=reason,
        answer=outcome.answer if outcome and ended else "",
        success=outcome.success if outcome and ended else status != "error",
        steps=progress.get("iteration", progress.get("steps", 0)),
        seconds=progress.get("seconds", 0.0),
        usage=Usage.model_validate(progress.get("usage") or {}),
        metrics=run_metrics(progress),
        questions=questions,
        checkpoint=saved.config["configurable"].get("checkpoint_id", ""),
    )


def _status(
    saved: CheckpointTuple,
    questions: list[QuestionEvent],
    errors: list[str],
    status: Status | None,
    outcome: Outcome | None,
) -> tuple[ThreadStatus, str]:
    if questions:
        return "waiting", questions[0].kind
    if errors:
        return "error", errors[0]
    if due_nodes(saved.checkpoint["channel_values"]):
        return "interrupted", "its process is gone"
    if status in ENDED:
        return status, outcome.reason if outcome else ""
    return ("finished", "") if status is None else ("interrupted", "its process is gone")


def due_nodes(values: Mapping[str, Any]) -> list[str]:
    """Nodes that are to run after a checkpoint, one name for each task; `__start__` before the first."""
    sent = [send.node for send in values.get("__pregel_tasks") or []]
    entered = [name.removeprefix("branch:to:") for name in values if name.startswith("branch:to:")]
    return [*(["__start__"] if "__start__" in values else []), *entered, *sent]


def pending_interrupts(saved: CheckpointTuple) -> list[Interrupt]:
    """Interrupts that wait for an answer: those of tasks that are not finished."""
    writes = saved.pending_writes or []
    finished = {task for task, channel, _ in writes if channel not in CONTROL_CHANNELS}
    values = [value for task, channel, value in writes if channel == "__interrupt__" and task not in finished]
    found = [item for value in values for item in (value if isinstance(value, list | tuple) else [value])]
    return list({item.id: item for item in found}.values())


def task_errors(saved: CheckpointTuple) -> list[str]:
    """What tasks raised, as text; a task that was cancelled only was to stop."""
    errors = [str(value) for _, channel, value in saved.pending_writes or [] if channel == "__error__"]
    return [error for error in errors if not error.startswith("CancelledError(")]


def question_event(interrupt: Interrupt | Mapping[str, Any]) -> QuestionEvent:
    """The question that an interrupt asks; an interrupt of a foreign shape asks for input with its text."""
    identifier, value = (
        (interrupt["id"], interrupt["value"]) if isinstance(interrupt, Mapping) else (interrupt.id, interrupt.value)
    )
    if isinstance(value, Mapping) and {"kind", "question"} <= value.keys():
        known = {key: value[key] for key in ("kind", "question", "options", "data", "path") if key in value}
        return QuestionEvent(id=identifier, **known)
    return QuestionEvent(id=identifier, kind="input", question=str(value))


def outcome_of(values: Mapping[str, Any]) -> Outcome | None:
    """The outcome among the values of a state."""
    outcome = values.get("outcome")
    return Outcome.model_validate(outcome) if isinstance(outcome, Mapping) else outcome
