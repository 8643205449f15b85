"""Trajectories of threads: a run as its events, and a run compared with one that was before."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from ..state.events import Observation, history_events, observation_of
from ..state.stream import DifferenceEvent
from ..state.thread import ThreadRecord
from ..state.trajectory import Run, Trajectory
from .children import child_runs
from .session import Session

NOT_COMPARED = frozenset({"id", "source", "cause", "call_id", "images", "details"})
"""Fields of an observation that another run has otherwise in any case, or that stand in its content too."""

WORKSPACE = "<workspace>"
"""What stands for the folder of the run's files where two runs are compared."""


async def thread_trajectory(session: Session, record: ThreadRecord) -> Trajectory:
    """The run of a thread, as its events; with the runs of the agents that did a part of it."""
    view, values = await session.view(record), await session.values(record)
    return Trajectory(
        graph=record.graph,
        children=[run async for run in _children(session, record)],
        thread=record.thread,
        agent=record.primary,
        model=record.model,
        workspace=record.workspace,
        status=view.status,
        reason=view.reason,
        events=history_events(values.get("messages", [])),
    )


async def _children(session: Session, record: ThreadRecord) -> AsyncIterator[Run]:
    async for path, values in child_runs(session, record):
        yield Run(node=path, events=history_events(values.get("messages", [])))


def differences(
    trajectory: Trajectory, messages: Sequence[AnyMessage], workspace: str | None
) -> Iterator[DifferenceEvent]:
    """What came otherwise than in the trajectory, for the calls of it that have a result now, in their order."""
    steps = {call["id"]: step for step, reply in enumerate(_replies(messages), 1) for call in reply.tool_calls}
    expected = trajectory.observations()
    for message in messages:
        if isinstance(message, ToolMessage) and (was := expected.get(message.tool_call_id)) is not None:
            yield from _differences(
                _compared(was, trajectory.workspace),
                _compared(observation_of(message), workspace),
                {"step": steps.get(message.tool_call_id, 0), "id": message.tool_call_id, "name": message.name or ""},
            )


def _differences(was: dict[str, Any], now: dict[str, Any], call: dict[str, Any]) -> Iterator[DifferenceEvent]:
    for field in {**was, **now}:
        if was.get(field) != now.get(field):
            yield DifferenceEvent(field=field, was=was.get(field), now=now.get(field), **call)


def _compared(observation: Observation, workspace: str | None) -> dict[str, Any]:
    data = observation.model_dump(exclude=set(NOT_COMPARED))
    if workspace:
        data["content"] = data["content"].replace(workspace, WORKSPACE)
    return data


def _replies(messages: Sequence[AnyMessage]) -> list[AIMessage]:
    return [message for message in messages if isinstance(message, AIMessage)]
