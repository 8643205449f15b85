"""Actions that add and change subtasks: `planning`'s update and mark_step (seed ``agent-hub.md``)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field
from typing_extensions import Self

from .action import Action
from .errors import UsageError
from .plan import Plan, StepStatus

TaskState = Literal["open", "in_progress", "completed", "verified", "abandoned", "blocked"]
"""State of a subtask: the hub's five, and `blocked`."""

STATUSES: Mapping[TaskState, StepStatus] = MappingProxyType(
    {
        "open": "not_started",
        "in_progress": "in_progress",
        "completed": "completed",
        "verified": "completed",
        "abandoned": "blocked",
        "blocked": "blocked",
    }
)
"""The status of a plan's step for each state of a subtask."""

STATES: Mapping[StepStatus, TaskState] = MappingProxyType(
    {"not_started": "open", "in_progress": "in_progress", "completed": "completed", "blocked": "blocked"}
)
"""The state of a subtask for each status of a plan's step."""

NOTED: frozenset[TaskState] = frozenset({"verified", "abandoned"})
"""States that a plan does not tell from others; a note on the step says them."""


class AddTaskAction(Action):
    """Add a subtask to the plan; without a plan, begin one with it."""

    said = "Added task: {goal}"
    action: Literal["add_task"] = "add_task"

    goal: str
    """What the subtask is to achieve."""

    parent: str = ""
    """Id or place of the step that is not begun before it is done; empty for none."""

    subtasks: list[str] = Field(default_factory=list)
    """What is to be done for it before, in this order."""

    @property
    def tool(self) -> str:
        """`planning`."""
        return "planning"

    def planning_arguments(self, plan: Plan | None, title: str) -> dict[str, Any]:
        """The arguments of the `planning` call that adds it: an update of the plan, or the first plan.

        Args:
            plan: the plan as it stands.
            title: what the first plan is for.

        Raises:
            UsageError: the plan has no such parent.
        """
        if plan is None:
            return {"command": "create", "title": title, "steps": [*self.subtasks, self.goal]}
        place = step_place(plan, self.parent) if self.parent else len(plan.steps)
        steps = [_step(plan, step.id) for step in plan.steps]
        # Each waits for the one before it, as steps of a plan do.
        added = [*self.subtasks, self.goal]
        for step in steps[place:]:
            step["depends_on"] = [index + len(added) if index >= place else index for index in step["depends_on"]]
        if self.parent:
            steps[place]["depends_on"].append(place + len(added) - 1)
        return {"command": "update", "steps": [*steps[:place], *added, *steps[place:]]}


class ModifyTaskAction(Action):
    """Change the state of a subtask."""

    tools = ("planning",)
    said = "Task {task_id}: {state}"
    action: Literal["modify_task"] = "modify_task"

    task_id: str
    """Id of the step, or its place in the plan, from 0."""

    state: TaskState | None = None
    """What it becomes; None leaves it."""

    note: str | None = None
    """A remark to add to it."""

    plan_id: str | None = None
    """Which plan; None for the active one."""

    @classmethod
    def from_call(cls, tool: str, arguments: Mapping[str, Any], **head: Any) -> Self:
        """The action of a call of `mark_step`."""
        own = dict(arguments)
        place, status = own.pop("step_index", None), own.pop("step_status", None)
        if own.pop("command", None) != "mark_step" or type(place) is not int or status not in {None, *STATES}:
            raise ValueError("no step is marked")
        if "step_notes" in own:
            own["note"] = own.pop("step_notes")
        return cls.model_validate(
            {"task_id": str(place), **({"state": STATES[status]} if status else {}), **own, **head}
        )

    def call_arguments(self) -> dict[str, Any]:
        """The arguments of the call that marks the step, where `task_id` is its place."""
        place = int(self.task_id) if self.task_id.isdecimal() else self.task_id
        return self._arguments(place)

    def planning_arguments(self, plan: Plan | None) -> dict[str, Any]:
        """The arguments of the `planning` call that marks the step.

        Raises:
            UsageError: there is no plan, or no such step.
        """
        if plan is None:
            raise UsageError(f"there is no task {self.task_id!r}: add one first")
        return self._arguments(step_place(plan, self.task_id))

    def _arguments(self, place: int | str) -> dict[str, Any]:
        said = ": ".join(part for part in (self.state if self.state in NOTED else None, self.note) if part)
        given: dict[str, Any] = {"command": "mark_step", "step_index": place}
        given |= {"step_status": STATUSES[self.state]} if self.state else {}
        given |= {"step_notes": said or self.note} if said or "note" in self.model_fields_set else {}
        return given | ({"plan_id": self.plan_id} if "plan_id" in self.model_fields_set else {})


def step_place(plan: Plan, name: str) -> int:
    """Place of a step in the plan, by its id or by the place itself.

    Raises:
        UsageError: there is none.
    """
    ids = [step.id for step in plan.steps]
    if name in ids:
        return ids.index(name)
    if name.isdecimal() and int(name) < len(ids):
        return int(name)
    raise UsageError(f"plan {plan.id!r} has no task {name!r}; its tasks are {', '.join(ids)}")


def _step(plan: Plan, step_id: str) -> dict[str, Any]:
    step = plan.step(step_id)
    places = {other.id: place for place, other in enumerate(plan.steps)}
    depends_on = [places[dependency] for dependency in step.depends_on]
    return {"id": step.id, "text": step.text, "depends_on": depends_on} | ({"agent": step.agent} if step.agent else {})
