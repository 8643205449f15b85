"""Changes to a plan as plain data, keyed by step id, so that those of parallel steps can be folded in later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from .errors import PlanError
from .plan import Plan, StepStatus, ToolExecution


class _Operation(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    origin: str = ""
    """Id of the step whose agent asked for it; empty for the owner of the plan."""


class MarkStep(_Operation):
    """Set a step's status, add a note, or both. A `completed` of this kind is a claim; `FinishStep` overrides it."""

    op: Literal["mark"] = "mark"
    step: str
    """Id of the step."""
    status: StepStatus | None = None
    """The status that it gets; None leaves it."""
    note: str = ""
    """A line for its notes; one that they have already is not added again."""
    at: float | None = None
    """When, in seconds since 1970 (UTC)."""


class StartStep(_Operation):
    """Begin an attempt at a step."""

    op: Literal["start"] = "start"
    step: str
    """Id of the step."""
    agent: str | None = None
    """Name of the agent that does it; None leaves the one it has."""
    at: float | None = None
    """When, in seconds since 1970 (UTC)."""


class FinishStep(_Operation):
    """Record how an attempt at a step ended. It is folded after all other kinds: what was earned outranks any mark."""

    op: Literal["finish"] = "finish"
    step: str
    """Id of the step."""
    status: Literal["completed", "blocked", "not_started"]
    """`completed` for success, `not_started` to try again, `blocked` to give up."""
    result: str = ""
    """The agent's answer; empty leaves the one of an earlier attempt."""
    note: str = ""
    """A line for its notes, such as what went wrong."""
    executions: list[ToolExecution] = Field(default_factory=list)
    """The tool calls of this attempt."""
    at: float | None = None
    """When, in seconds since 1970 (UTC)."""


class TrackTools(_Operation):
    """Note tool calls that were made for a step, while it goes on (the seed's step execution tracker)."""

    op: Literal["track"] = "track"
    step: str
    """Id of the step."""
    executions: list[ToolExecution]
    """The calls, the oldest first."""


class EditStep(_Operation):
    """Reword a step, give it to another agent, or change what it waits for. Its status and results stay."""

    op: Literal["edit"] = "edit"
    step: str
    """Id of the step."""
    text: str | None = None
    """The text that it gets; None leaves it."""
    agent: str | None = None
    """The agent that it gets; None leaves it."""
    wait_for: list[str] = Field(default_factory=list)
    """Ids of the steps that it is to wait for in addition."""
    release: list[str] = Field(default_factory=list)
    """Ids of the steps that it no longer waits for."""


class AddStep(_Operation):
    """Put in a step that has not been started."""

    op: Literal["add"] = "add"
    step: str
    """Id that it is to get."""
    text: str
    """What is to be done."""
    agent: str | None = None
    """Name of the agent that does it."""
    depends_on: list[str] = Field(default_factory=list)
    """Ids of the steps that must be completed first."""
    after: str | None = None
    """Id of the step behind which it stands; None for the first place."""


class RemoveStep(_Operation):
    """Take out a step, unless it is in progress or completed. What waited for it waits for what it waited for."""

    op: Literal["remove"] = "remove"
    step: str
    """Id of the step."""


class ReorderSteps(_Operation):
    """Show steps in another order. Steps that it does not name keep their places."""

    op: Literal["reorder"] = "reorder"
    steps: list[str]
    """Ids of steps in the order that they get among each other."""


class RetitlePlan(_Operation):
    """Give the plan another title."""

    op: Literal["retitle"] = "retitle"
    title: str = Field(min_length=1)
    """The title that it gets."""


class OpenPlan(_Operation):
    """Make a whole plan the one that is worked on, in place of any other."""

    op: Literal["open"] = "open"
    plan: Plan
    """The plan."""


class ClosePlan(_Operation):
    """Stop working on a plan, if it is the one that is worked on."""

    op: Literal["close"] = "close"
    plan_id: str
    """Id of the plan."""


StepOperation = (
    MarkStep | StartStep | TrackTools | FinishStep | EditStep | AddStep | RemoveStep | ReorderSteps | RetitlePlan
)
"""A change inside a plan."""

PlanOperation = StepOperation | OpenPlan | ClosePlan
"""A change inside a plan, or of which plan is worked on."""

_operations: TypeAdapter[list[PlanOperation]] = TypeAdapter(
    list[Annotated[PlanOperation, Field(discriminator="op")]], config=ConfigDict(defer_build=True)
)


def dump_operations(operations: Sequence[PlanOperation]) -> list[dict[str, Any]]:
    """As plain JSON, for an artifact or a state channel."""
    return [operation.model_dump(mode="json", exclude_defaults=True) | {"op": operation.op} for operation in operations]


def read_operations(data: Iterable[Any]) -> list[PlanOperation]:
    """Validate what `dump_operations` wrote; operations that are validated already pass as they are.

    Raises:
        PlanError: an item is no operation.
    """
    try:
        return _operations.validate_python(list(data))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise PlanError(
            f"Not an operation on a plan, {'.'.join(map(str, problem['loc']))}: {problem['msg']}."
        ) from error
