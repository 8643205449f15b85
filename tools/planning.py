"""`planning`: create plans, look at them, change them, and say how far their steps are."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from langchain_core.tools import BaseTool
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SkipValidation, ValidationError, model_validator
from typing_extensions import Self

from ..state.errors import PlanError
from ..state.plan import Plan, StepStatus
from ..state.plan_draft import StepArgument, create_plan
from ..state.plan_edit import update_operations
from ..state.plan_operation import MarkStep, StepOperation
from ..state.settings import first_line
from .plans import Plans, run_plans
from .traits import Traits

PlanCommand = Literal["create", "update", "list", "get", "set_active", "mark_step", "delete"]
"""The seven commands (seed ``planning-system.md``, Key Commands)."""

Reply = tuple[str, dict[str, Any]]


class PlanningArguments(BaseModel):
    """Arguments of `planning`."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True, defer_build=True)

    command: PlanCommand = Field(description="What to do.")
    plan_id: str | None = Field(
        None,
        description="Id of the plan. Optional for create (one is made up) and for update, get and mark_step "
        "(the active plan is meant); required for set_active and delete.",
    )
    title: str | None = Field(None, description="What the plan is for. Required for create, optional for update.")
    steps: list[str | StepArgument] | None = Field(
        None,
        description="All steps of the plan, for create and update. A string is a step that waits for the one before "
        "it; it may begin with the tag [AGENT] to name the agent that does it. Use objects to let steps run at the "
        "same time. An update gives the whole list as it is to be: steps that stay keep their status, notes and "
        "results, and completed steps that are left out are kept.",
    )
    step_index: int | None = Field(None, description="Place of the step, from 0. Required for mark_step.")
    step_status: StepStatus | None = Field(None, description="The status that the step gets, for mark_step.")
    step_notes: str | None = Field(
        None,
        validation_alias=AliasChoices("step_notes", "step_note"),
        description="A remark to add to the step's notes, for mark_step.",
    )


class Planning(BaseTool):
    """Keep plans. The artifact is `{"plan_id", "operations"}`: the operations that the graph is to fold into its state.

    With `LivePlans` it changes nothing itself; with `LibraryPlans` the change is made and `operations` is empty.
    """

    name: str = "planning"
    description: str = (
        "Create and manage plans for tasks of several steps. Commands: create (title, steps), update (title and/or "
        "steps), list, get, set_active (plan_id), mark_step (step_index, step_status and/or step_notes), "
        "delete (plan_id). The reply shows the plan with its progress and each step's place, mark and id."
    )
    args_schema: type[BaseModel] = PlanningArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"

    plans: SkipValidation[Plans | None] = None
    """The plans to work on; None for those in the store of the graph that is running."""

    agents: SkipValidation[Collection[str] | None] = None
    """Names of the agents that a step may name; None takes any."""

    @model_validator(mode="after")
    def _say_traits(self) -> Self:
        if self.metadata is None:
            idempotent = self.plans is not None and self.plans.idempotent
            self.metadata = Traits(parallel=False, idempotent=idempotent, risk="low").metadata()
        return self

    def _run(self, **arguments: Any) -> Reply:
        return asyncio.run(self._arun(**arguments))

    async def _arun(
        self,
        command: PlanCommand,
        plan_id: str | None = None,
        title: str | None = None,
        steps: Sequence[str | StepArgument] | None = None,
        step_index: int | None = None,
        step_status: StepStatus | None = None,
        step_notes: str | None = None,
    ) -> Reply:
        plans = self.plans or run_plans()
        plan_id = plan_id or None
        match command:
            case "create":
                return await self._create(plans, plan_id, title, steps)
            case "update":
                return await self._update(plans, plan_id, title, steps)
            case "mark_step":
                return await _mark_step(plans, plan_id, step_index, step_status, step_notes)
            case "list":
                return await _list(plans)
            case "get":
                plan = await plans.get(plan_id)
                return plan.render(), {"plan_id": plan.id, "operations": []}
            case "set_active":
                change = await plans.set_active(_required(plan_id, command))
                return f"Plan {change.plan.id!r} is the active plan.\n\n{change.plan.render()}", change.artifact()
            case "delete":
                change = await plans.delete(_required(plan_id, command))
                return f"Plan {change.plan.id!r} has been deleted.", change.artifact()

    async def _create(
        self, plans: Plans, plan_id: str | None, title: str | None, steps: Sequence[str | StepArgument] | None
    ) -> Reply:
        plan = create_plan(plan_id or new_plan_id(), title or "", steps or (), self.agents)
        change = await plans.create(plan)
        return f"Plan created with ID: {plan.id}\n\n{change.plan.render()}", change.artifact()

    async def _update(
        self, plans: Plans, plan_id: str | None, title: str | None, steps: Sequence[str | StepArgument] | None
    ) -> Reply:
        origin = await plans.origin()

        def edit(plan: Plan) -> Sequence[StepOperation]:
            return update_operations(plan, title, steps, self.agents, origin=origin)

        change = await plans.edit(plan_id, edit)
        return f"Plan {change.plan.id!r} updated.\n\n{change.plan.render()}", change.artifact()


async def _mark_step(
    plans: Plans, plan_id: str | None, index: int | None, status: StepStatus | None, notes: str | None
) -> Reply:
    if index is None:
        raise PlanError("`mark_step` needs step_index: the place of the step, from 0.")
    if status is None and not notes:
        raise PlanError("`mark_step` needs step_status, or step_notes, or both.")
    origin, now = await plans.origin(), time.time()

    def edit(plan: Plan) -> Sequence[StepOperation]:
        return [MarkStep(step=plan.step_at(index).id, status=status, note=notes or "", at=now, origin=origin)]

    change = await plans.edit(plan_id, edit)
    return f"Step {index} of plan {change.plan.id!r} updated.\n\n{change.plan.render()}", change.artifact()


async def _list(plans: Plans) -> Reply:
    found, active = await plans.list()
    if not found:
        return "There are no plans: make one with `create`.", {"plan_id": None, "operations": []}
    lines = [
        f"• {plan.id}{' (active)' if plan.id == active else ''}: {plan.title} - {plan.progress()}" for plan in found
    ]
    return "\n".join(["Available plans:", *lines]), {"plan_id": active, "operations": []}


def _required(plan_id: str | None, command: str) -> str:
    if plan_id is None:
        raise PlanError(f"`{command}` needs plan_id: `list` shows the ids.")
    return plan_id


def new_plan_id() -> str:
    """An id that no other plan has, such as `plan_1234567890_3fa9` (seed ``planning-system.md``: by the clock)."""
    return f"plan_{int(time.time())}_{uuid4().hex[:4]}"


def plan_from_arguments(
    arguments: Mapping[str, Any], *, plan_id: str, title: str = "", agents: Collection[str] | None = None
) -> Plan:
    """The plan that a model's `planning` call asks for, for a graph that executes no tool to make it.

    Args:
        arguments: arguments of the call, as the model wrote them; its `plan_id` does not count.
        plan_id: id that the plan gets.
        title: what the plan is for, if the call does not say.
        agents: names of the agents that a step may name; None takes any.

    Raises:
        PlanError: the arguments are malformed, or the steps are no plan.
    """
    read = read_arguments(arguments)
    return create_plan(plan_id, read.title or title, read.steps or (), agents)


def read_arguments(arguments: Mapping[str, Any]) -> PlanningArguments:
    """Validate the arguments of a `planning` call.

    Raises:
        PlanError: they are malformed; the message names the argument.
    """
    try:
        return PlanningArguments.model_validate(arguments)
    except ValidationError as error:
        raise PlanError(f"The arguments of `planning` are malformed, {first_line(error)}.") from error
