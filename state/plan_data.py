"""A plan as the events of a run carry it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from .plan import Plan, PlanStep, StepStatus


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class StepData(_Data):
    """One step of a plan, as it stands."""

    id: str
    """Stable name of the step."""

    text: str
    """What is to be done."""

    agent: str | None
    """Who does it; None until that is settled."""

    depends_on: list[str]
    """Ids of the steps that must be completed first."""

    status: StepStatus
    """Where it stands."""

    attempts: int
    """How often it was begun."""

    notes: str
    """Remarks, one a line."""

    result: str
    """What came of it."""


class PlanData(_Data):
    """A plan, as it stands."""

    id: str
    """Name of the plan in the library."""

    title: str
    """What the plan is for."""

    steps: list[StepData]
    """The steps, in order."""


def plan_data(plan: Plan) -> PlanData:
    """The plan as events carry it."""
    return PlanData(id=plan.id, title=plan.title, steps=[step_data(step) for step in plan.steps])


def step_data(step: PlanStep) -> StepData:
    """The step as events carry it."""
    return StepData.model_validate(step.model_dump(include=set(StepData.model_fields)))
