"""What a run tells the outside, one event at a time: a discriminated union on `event`."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
)

from .errors import UsageError
from .metrics import TaskMetrics
from .notices import NoticeEvent, NudgeEvent, ProgressEvent, SaidEvent, StreamEvent, WaitEvent
from .outcome import Status, Usage
from .plan_data import PlanData, StepData
from .question import QuestionKind
from .sandbox import Backend


class StartEvent(StreamEvent):
    """A run begins, or goes on."""

    event: Literal["start"] = "start"

    thread: str
    """Id of the thread."""

    run: str
    """Id of this run; the checkpoints it writes carry it as `run_id`."""

    resumed: bool
    """Whether the thread goes on with a task that it had already begun."""

    sandbox: Backend | None = None
    """Where the commands of the run run; None where whoever drives the graph does not know."""


class ToolCallData(StreamEvent):
    """One call that a model asked for."""

    id: str
    """Id that no other call of the thread has."""

    name: str
    """Name of the tool."""

    args: dict[str, Any]
    """Arguments as the model wrote them."""


class ThinkEvent(StreamEvent):
    """The model replied."""

    event: Literal["think"] = "think"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost; empty for the outermost agent."""

    step: int
    """Number of the think-act cycle, from 1; 0 where the graph does not count."""

    text: str
    """What the model said."""

    tool_calls: list[ToolCallData] = Field(default_factory=list)
    """What the model wants done."""

    usage: Usage
    """Totals of the task so far."""


class ToolStartEvent(StreamEvent):
    """A tool call begins."""

    event: Literal["tool_start"] = "tool_start"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    id: str
    """Id of the call."""

    name: str
    """Name of the tool."""

    args: dict[str, Any]
    """Arguments of the call."""


class ToolEndEvent(StreamEvent):
    """A tool call is over."""

    event: Literal["tool_end"] = "tool_end"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    id: str
    """Id of the call."""

    name: str
    """Name of the tool."""

    status: Literal["success", "error"]
    """Whether the tool did what was asked."""

    text: str
    """What the model is shown of the result."""


class TokenEvent(StreamEvent):
    """A piece of a reply, while the model writes it."""

    event: Literal["token"] = "token"

    path: list[str] = Field(default_factory=list)
    """Nodes around the agent, from the outermost."""

    text: str
    """The piece."""


class QuestionEvent(StreamEvent):
    """The run asks a person; seen as soon as it is asked."""

    event: Literal["question"] = "question"

    id: str
    """Id of the interrupt, by which it is answered."""

    kind: QuestionKind
    """What is asked for."""

    question: str
    """One sentence for the person."""

    options: list[str] = Field(default_factory=list)
    """Answers to choose from; empty where the answer is free text."""

    data: dict[str, Any] = Field(default_factory=dict)
    """What the person needs to decide."""

    path: list[str] = Field(default_factory=list)
    """Names of the agents from the outermost to the one that asks."""


class PlanStepEvent(StreamEvent):
    """A step of the plan came to be, or changed."""

    event: Literal["plan_step"] = "plan_step"

    plan: str
    """Name of the plan."""

    step: StepData
    """The step as it stands."""


class DifferenceEvent(StreamEvent):
    """A call of a trajectory that was made again gave something else."""

    event: Literal["difference"] = "difference"

    step: int
    """Number of the reply that asked for it, from 1."""

    id: str
    """Id of the call."""

    name: str
    """Name of the tool."""

    field: str
    """What differs: `observation`, the kind, or a field of the observation."""

    was: Any
    """The value in the trajectory; None where it has none."""

    now: Any
    """The value now; None where there is none."""


class EndEvent(StreamEvent):
    """The run is over, or waits for a person. Always the last event."""

    event: Literal["end"] = "end"

    thread: str
    """Id of the thread."""

    status: Status
    """Status of the thread."""

    reason: str
    """Why it ended, or the kind of question that it waits with."""

    answer: str
    """What the agent has to say at the end."""

    steps: int
    """Think-act cycles of the task."""

    usage: Usage
    """What the task used of its models."""

    metrics: TaskMetrics | None = None
    """What all agents of the task took together; left out of the JSON where it is not known."""

    plan: PlanData | None = None
    """The plan of a plan run; other runs leave it out of the JSON."""

    success: bool = Field(default=True, exclude=True)
    """Whether the agent says that it did what was asked; part of the exit code, not of the JSON."""

    @model_serializer(mode="wrap")
    def _without_unknowns(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data: dict[str, Any] = serialize(self)
        left_out = {name for name in ("metrics", "plan") if getattr(self, name) is None}
        return {name: value for name, value in data.items() if name not in left_out}


Event = Annotated[
    StartEvent
    | ThinkEvent
    | ToolStartEvent
    | ToolEndEvent
    | TokenEvent
    | QuestionEvent
    | SaidEvent
    | WaitEvent
    | ProgressEvent
    | NudgeEvent
    | NoticeEvent
    | PlanStepEvent
    | DifferenceEvent
    | EndEvent,
    Field(discriminator="event"),
]
"""Any event of a run."""


def write_event(event: Event) -> str:
    """The event as one line of JSON, all ASCII: it passes any terminal, and text that is no UTF-8 does not stop it."""
    return json.dumps(event.model_dump(mode="json"))


def read_event(line: str | bytes) -> Event:
    """The event of one line of JSON.

    Raises:
        UsageError: the line is no event.
    """
    try:
        return _adapter().validate_python(json.loads(line))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise UsageError(f"no event of a run: {problem['msg']}") from error
    except ValueError as error:
        raise UsageError(f"no event of a run: {error}") from error


@cache
def _adapter() -> TypeAdapter[Event]:
    return TypeAdapter(Event)
