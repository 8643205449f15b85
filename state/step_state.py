"""A thread as the agents of a hub see it (seed ``agent-hub.md``, State): a view of its values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from pydantic import BaseModel, ConfigDict, Field

from .channel import SNAPSHOT_FREQUENCY, NoneUntilWritten, newest
from .delegation import INPUTS
from .event_messages import history_events
from .events import Action, ErrorObservation, MessageAction, Observation
from .metrics import TaskMetrics, run_metrics, subtask_metrics
from .outcome import Outcome, Status
from .plan import PlanStep
from .planning import PlanningState
from .question import QuestionKind

HubStatus = Literal[
    "loading",
    "running",
    "awaiting_user_input",
    "awaiting_user_confirmation",
    "paused",
    "stopped",
    "finished",
    "rejected",
    "error",
]
"""The hub's agent states."""

TrafficControl = Literal["normal", "throttling", "paused"]
"""`throttling` while a limit is to be raised by a person, `paused` while a person holds the run."""


class StepState(PlanningState):
    """The channels of an agent that is a function: those of an agent with a plan, and its own data."""

    extra_data: Annotated[dict[str, Any] | None, NoneUntilWritten(newest, snapshot_frequency=SNAPSHOT_FREQUENCY)]
    """What the function keeps from step to step; plain JSON."""


class State(BaseModel):
    """Where an agent stands, as `step` is given it. Only `extra_data` is to be changed."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    root_task: str
    """What the person asked of the outermost agent."""

    task: str
    """What this agent is to do; for the outermost one, the root task."""

    inputs: dict[str, Any] = Field(default_factory=dict)
    """Values that the agent was given for its task."""

    outputs: dict[str, Any] = Field(default_factory=dict)
    """Values that it gave at the end."""

    subtasks: list[PlanStep] = Field(default_factory=list)
    """The steps of its plan, which `AddTaskAction` and `ModifyTaskAction` change."""

    iteration: int = 0
    """Steps that all agents of the run had begun: ITERATION."""

    local_iteration: int = 0
    """Steps that this agent had begun: LOCAL_ITERATION."""

    max_iterations: int | None = None
    """Steps that it may take; None for no limit."""

    delegate_level: int = 0
    """Delegations between the person and this agent: DELEGATE_LEVEL."""

    almost_stuck: bool = False
    """Whether it repeated itself, and the next loop ends the task."""

    agent_state: HubStatus = "loading"
    """Where it stands, in the hub's words."""

    traffic_control_state: TrafficControl = "normal"
    """Whether it is held at a limit, or by a person."""

    confirmation_mode: bool = False
    """Whether a person may be asked before a call is made."""

    last_error: str = ""
    """The newest error of the task; empty for none."""

    start_id: int = -1
    """Place in `history` of the message that set the task; -1 for none."""

    end_id: int = -1
    """Place in `history` of the newest event; -1 for none."""

    history: list[Action | Observation] = Field(default_factory=list)
    """All that was done and what came of it, earlier tasks of the thread included."""

    metrics: TaskMetrics = TaskMetrics()
    """What all agents of the task took together."""

    local_metrics: TaskMetrics = TaskMetrics()
    """What this agent took of it."""

    extra_data: dict[str, Any] = Field(default_factory=dict)
    """What the agent keeps from step to step. It may be changed in place, and holds plain JSON."""

    def newest_observation(self) -> Observation | None:
        """What came last of an action of this task; None before the first."""
        events = reversed(self.history[max(0, self.start_id) :])
        return next((event for event in events if isinstance(event, Observation)), None)


def hub_state(
    values: Mapping[str, Any],
    *,
    agent: str = "",
    status: Status | Literal["interrupted"] | None = None,
    waits_for: QuestionKind | None = None,
    confirmation_mode: bool = False,
    max_iterations: int | None = None,
    root_task: str = "",
) -> State:
    """The view of a thread's values.

    Args:
        values: the channels of an agent's thread.
        agent: name of the agent.
        status: status of the thread, where it is known better than the values say.
        waits_for: what the thread asks a person, if it waits.
        confirmation_mode: whether a person may be asked before a call.
        max_iterations: steps that the agent may take.
        root_task: what the person asked, where this agent was given its task by another one.
    """
    messages: list[AnyMessage] = list(values.get("messages") or [])
    progress, plan = values.get("progress") or {}, values.get("plan")
    outcome: Outcome | None = values.get("outcome")
    task = messages[progress.get("task", 0)] if messages else None
    history = history_events(messages)
    start = _start(history, task.id if task else None)
    return State(
        root_task=root_task or (task.text if task else ""),
        task=task.text if task else "",
        inputs=task.additional_kwargs.get(INPUTS, {}) if task else {},
        outputs=outcome.outputs if outcome else {},
        subtasks=plan.steps if plan else [],
        iteration=progress.get("iteration", 0),
        local_iteration=progress.get("steps", 0),
        max_iterations=max_iterations,
        delegate_level=progress.get("level", 0),
        almost_stuck=bool(progress.get("nudge")),
        agent_state=_agent_state(status or values.get("status") or "idle", waits_for),
        traffic_control_state=_traffic(waits_for),
        confirmation_mode=confirmation_mode,
        last_error=_last_error(history[max(0, start) :], outcome),
        start_id=start,
        end_id=len(history) - 1,
        history=history,
        metrics=run_metrics(progress),
        local_metrics=subtask_metrics(agent, values)[0],
        extra_data=values.get("extra_data") or {},
    )


def _start(history: Sequence[Action | Observation], task: str | None) -> int:
    asked = [event for event in history if isinstance(event, MessageAction) and event.source == "user"]
    named = [event.id for event in asked if task and event.reply_id == task]
    return (named or [event.id for event in asked[-1:]] or [-1])[-1]


def _agent_state(status: str, waits_for: QuestionKind | None) -> HubStatus:
    match status:
        case "running" | "finished" | "rejected":
            return status
        case "idle":
            return "loading"
        case "cancelled":
            return "stopped"
        case "interrupted":
            return "paused"
        case "waiting" if waits_for == "confirm":
            return "awaiting_user_confirmation"
        case "waiting":
            return "paused" if waits_for in (None, "paused") else "awaiting_user_input"
    return "error"


def _traffic(waits_for: QuestionKind | None) -> TrafficControl:
    if waits_for == "limit":
        return "throttling"
    return "paused" if waits_for == "paused" else "normal"


def _last_error(history: Sequence[Action | Observation], outcome: Outcome | None) -> str:
    if outcome and not outcome.success:
        return outcome.reason
    return next((event.content for event in reversed(history) if isinstance(event, ErrorObservation)), "")
