"""What the checkpoints of a plan's thread prove: which tool calls of which step are saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.types import PregelTask, StateSnapshot

from ...state.errors import ClewError
from ...state.plan import Plan, PlanStep
from ...state.settings import Settings
from ..session import open_session
from ..view import thread_config


@dataclass(frozen=True)
class StepEvidence:
    """What is saved of one step."""

    id: str
    """Id of the step."""

    text: str
    """What is to be done."""

    standing: str
    """Where the step stands, in words."""

    saved: list[str] = field(default_factory=list)
    """Ids of the tool calls whose results are saved."""

    open: list[str] = field(default_factory=list)
    """Names of the tools whose calls have no result."""


async def read_evidence(home: Path, thread: str) -> list[StepEvidence]:
    """Read the newest checkpoint of the thread and those of its steps' agents.

    Raises:
        ClewError: the thread has no plan.
    """
    async with open_session(Settings(home=home, db=str(home / "clew.db"))) as session:
        record = await session.registry.get(thread)
        snapshot = await session.graph(record).aget_state(thread_config(thread), subgraphs=True)
    plan: Plan | None = snapshot.values.get("plan")
    if plan is None:
        raise ClewError(f"thread {thread} has no plan: run the demo again")
    unfinished = dict(_under_way(snapshot))
    return [unfinished.get(step.id) or _recorded(step) for step in plan.steps]


def _recorded(step: PlanStep) -> StepEvidence:
    standing = {"completed": "completed", "not_started": "not begun"}.get(step.status, step.status)
    return StepEvidence(step.id, step.text, standing, [execution.call_id for execution in step.executions])


def _under_way(snapshot: StateSnapshot) -> Iterator[tuple[str, StepEvidence]]:
    plan: Plan = snapshot.values["plan"]
    for task in snapshot.tasks:
        if reports := _reports(task):
            step = plan.step(reports[0]["step"])
            calls = [execution["call_id"] for execution in reports[0]["executions"]]
            yield step.id, StepEvidence(step.id, step.text, "done, to be recorded", calls)
        elif isinstance(task.state, StateSnapshot) and (messages := task.state.values.get("messages")):
            step = plan.step(str(messages[0].id).removesuffix("-task"))
            yield step.id, _cut_off(step, messages)


def _reports(task: PregelTask) -> list[dict[str, Any]]:
    result: dict[str, Any] = task.result or {}
    return list(result.get("reports", []))


def _cut_off(step: PlanStep, messages: list[AnyMessage]) -> StepEvidence:
    saved = [message.tool_call_id for message in messages if isinstance(message, ToolMessage)]
    called = [call for message in messages if isinstance(message, AIMessage) for call in message.tool_calls]
    unanswered = [call["name"] for call in called if call["id"] not in saved]
    if unanswered:
        standing = f"in the middle of {' and '.join(unanswered)}"
    else:
        standing = "done, to be recorded" if _has_ended(messages) else "between two calls"
    return StepEvidence(step.id, step.text, standing, saved, unanswered)


def _has_ended(messages: list[AnyMessage]) -> bool:
    return isinstance(messages[-1], ToolMessage) and messages[-1].name == "terminate"
