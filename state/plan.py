"""A plan: steps with dependencies, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from .errors import PlanError

StepStatus = Literal["not_started", "in_progress", "completed", "blocked"]
"""The four statuses of a step (seed ``planning-system.md``, Step Status Tracking)."""

MARKS: dict[StepStatus, str] = {"not_started": "[ ]", "in_progress": "[→]", "completed": "[✓]", "blocked": "[!]"}
"""How each status is drawn (same place)."""

STARTED: frozenset[StepStatus] = frozenset({"in_progress", "completed"})
"""Statuses of steps that no update may take out of a plan."""


class ToolExecution(BaseModel):
    """One tool call made for a step (the seed's step execution tracker)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    tool: str
    """Name of the tool."""

    status: Literal["pending", "completed", "failed"]
    """What became of the call."""

    call_id: str = ""
    """Id of the tool call, for the message that carries its result."""


class PlanStep(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str = Field(min_length=1)
    """Stable name of the step, such as `s1`; a plan never gives it to another step."""

    text: str = Field(min_length=1)
    """What is to be done."""

    agent: str | None = None
    """Name of the agent that does it; None leaves the choice to the flow."""

    depends_on: list[str] = Field(default_factory=list)
    """Ids of the steps that must be completed first."""

    status: StepStatus = "not_started"
    """Where it stands."""

    notes: str = ""
    """Remarks, one per line, the oldest first."""

    result: str = ""
    """What the agent that did the step answered."""

    attempts: int = 0
    """How often it was begun."""

    started: float | None = None
    """When the newest attempt began, in seconds since 1970 (UTC)."""

    ended: float | None = None
    """When the newest attempt ended, in seconds since 1970 (UTC)."""

    executions: list[ToolExecution] = Field(default_factory=list)
    """The tool calls of all attempts, the oldest first."""

    @property
    def mark(self) -> str:
        """The status as it is drawn: `[ ]`, `[→]`, `[✓]` or `[!]`."""
        return MARKS[self.status]


class Plan(BaseModel):
    """A titled list of steps whose dependencies form no cycle.

    Raises:
        PlanError: there are no steps, two share an id, or the dependencies are unknown or circular.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str
    """Name of the plan in the library."""

    title: str
    """What the plan is for."""

    steps: list[PlanStep]
    """The steps in the order in which they are shown and, where several are ready, begun."""

    retired: list[str] = Field(default_factory=list)
    """Ids of steps that were taken out; they are not given again."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.id.strip():
            raise PlanError("A plan needs an id that is not blank: give plan_id, or leave it out.")
        if not self.title.strip():
            raise PlanError("A plan needs a title: say in a few words what it is for.")
        check_steps(self.steps)
        return self

    def step(self, step_id: str) -> PlanStep:
        """The step of that id.

        Raises:
            PlanError: there is none.
        """
        for step in self.steps:
            if step.id == step_id:
                return step
        known = ", ".join(step.id for step in self.steps)
        raise PlanError(f"Plan {self.id!r} has no step {step_id!r}; its steps are {known}.")

    def step_at(self, index: int) -> PlanStep:
        """The step at that place, counted from 0.

        Raises:
            PlanError: there is none.
        """
        if not 0 <= index < len(self.steps):
            raise PlanError(
                f"step_index {index} is out of range: plan {self.id!r} has steps 0 to {len(self.steps) - 1}."
            )
        return self.steps[index]

    def with_steps(self, steps: Iterable[PlanStep]) -> Plan:
        """The same plan with other steps, checked."""
        return Plan(id=self.id, title=self.title, steps=list(steps), retired=self.retired)

    def count(self, status: StepStatus) -> int:
        """How many steps have that status."""
        return sum(step.status == status for step in self.steps)

    def progress(self) -> str:
        """Such as `3/7 steps completed (42.8%)`, the share floored to one decimal (seed ``planning-system.md``)."""
        completed, total = self.count("completed"), len(self.steps)
        tenths = completed * 1000 // total
        return f"{completed}/{total} steps completed ({tenths // 10}.{tenths % 10}%)"

    def render(self) -> str:
        """The plan as text: title, progress, and each step with its place from 0, mark, id and notes."""
        title = f"Plan: {self.title} (ID: {self.id})"
        counts = ", ".join(f"{self.count(status)} {status.replace('_', ' ')}" for status in _COUNTED)
        head = [title, "=" * len(title), "", f"Progress: {self.progress()}", f"Status: {counts}", "", "Steps:"]
        places = {step.id: place for place, step in enumerate(self.steps)}
        return "\n".join([*head, *(line for step in self.steps for line in _lines(step, places))])


_COUNTED: tuple[StepStatus, ...] = ("completed", "in_progress", "blocked", "not_started")


def _lines(step: PlanStep, places: dict[str, int]) -> list[str]:
    details = [f"id {step.id}"]
    if step.agent:
        details.append(f"agent {step.agent}")
    if step.depends_on:
        details.append(f"after {', '.join(str(places[dependency]) for dependency in step.depends_on)}")
    notes = [f"   Notes: {line}" for line in step.notes.splitlines()]
    return [f"{places[step.id]}. {step.mark} {step.text} ({'; '.join(details)})", *notes]


def check_steps(steps: Sequence[PlanStep]) -> None:
    """Refuse what no plan may be.

    Raises:
        PlanError: there are no steps, two share an id, or the dependencies are unknown or circular.
    """
    if not steps:
        raise PlanError("A plan needs at least one step.")
    known: set[str] = set()
    for step in steps:
        if step.id in known:
            raise PlanError(f"Two steps have the id {step.id!r}: give each step an id of its own, or none.")
        known.add(step.id)
    for step in steps:
        if unknown := [dependency for dependency in step.depends_on if dependency not in known]:
            raise PlanError(f"Step {step.id!r} depends on {unknown[0]!r}, which is not a step of the plan.")
    if cycle := find_cycle(steps):
        raise PlanError(f"The steps wait for each other in a circle, {' → '.join(cycle)}: remove one dependency.")


def find_cycle(steps: Iterable[PlanStep]) -> list[str]:
    """Ids along one cycle of dependencies, its first id again at the end; empty if there is none."""
    waiting = {step.id: set(step.depends_on) for step in steps}
    free = [step_id for step_id, dependencies in waiting.items() if not dependencies]
    while free:
        for step_id in free:
            del waiting[step_id]
        done = set(free)
        for dependencies in waiting.values():
            dependencies -= done
        free = [step_id for step_id, dependencies in waiting.items() if not dependencies]
    return _walk(waiting) if waiting else []


def _walk(waiting: dict[str, set[str]]) -> list[str]:
    # Every step that is left waits for another that is left, so the walk must come back to where it was.
    path = [next(iter(waiting))]
    while (following := min(waiting[path[-1]])) not in path:
        path.append(following)
    return [*path[path.index(following) :], following]
