"""What the nodes of a plan run work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..state.context import RunContext
from ..state.flow import FlowProgress, RevisePolicy
from ..state.limits import Budget
from ..state.plan import Plan, PlanStep
from .model_source import ModelSource


@dataclass(frozen=True)
class Executor:
    """An agent that can do steps."""

    name: str
    """Its name in the plan."""

    description: str
    """By which the planner chooses it."""

    max_steps: int | None
    """Its own limit of think-act cycles a step; None for a graph that says nothing of it."""


@dataclass(frozen=True)
class FlowEquipment:
    """The agents, the planner's model and the bounds that the nodes of a plan run share."""

    executors: Mapping[str, Executor]
    """The agents by name, the primary one first."""

    models: ModelSource
    """Where the planner's model comes from."""

    parallel: int
    """Steps that may run at once."""

    revise: RevisePolicy
    """When the plan is looked at again."""

    max_revisions: int
    """Revisions that one run may make."""

    max_steps: int | None
    """Think-act cycles of all agents together; None for no limit."""

    retries: int
    """Further attempts by the same agent at a step that failed."""

    @property
    def primary(self) -> str:
        """Name of the agent that does what no other was named for, and tries what another failed at."""
        return next(iter(self.executors))

    def executor(self, step: PlanStep) -> Executor:
        """The agent of a step: the one it names, else the primary one."""
        return self.executors.get(step.agent or "", self.executors[self.primary])

    def remaining(self, progress: FlowProgress, context: RunContext) -> Budget:
        """What is left of the run's budget."""
        return Budget(steps=context.max_steps or self.max_steps).after(progress["steps"])

    def caps(self, steps: list[PlanStep]) -> list[Budget]:
        """The most that the agent of each step may take."""
        return [Budget(steps=self.executor(step).max_steps) for step in steps]

    def describe_agents(self) -> str:
        """A line for each agent, as the planner's prompt shows them."""
        return "\n".join(f"- `{each.name}`: {each.description or 'an agent'}" for each in self.executors.values())


def steps_under_way(plan: Plan) -> list[PlanStep]:
    """The steps that are in progress, in plan order."""
    return [step for step in plan.steps if step.status == "in_progress"]
