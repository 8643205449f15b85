"""What the nodes of a plan run work with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from langchain_core.runnables import RunnableConfig

from ..state.context import RunContext
from ..state.flow import FlowProgress, RevisePolicy
from ..state.limits import Budget, Lease, give_leases, used_kinds
from ..state.outcome import Usage
from ..state.plan import Plan, PlanStep
from .clock import seconds_of
from .model_source import ModelSource

MOMENT = 0.001
"""Seconds that a step gets where the run's time is over as it starts."""


@dataclass(frozen=True)
class Executor:
    """An agent that can do steps."""

    name: str
    """Its name in the plan."""

    description: str
    """By which the planner chooses it."""

    limits: Budget
    """Its own limits for one step; those of a graph are the graph's affair."""


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

    limits: Budget
    """What the planner and all agents may use together, unless the run's context says else."""

    retries: int
    """Further attempts by the same agent at a step that failed."""

    @property
    def primary(self) -> str:
        """Name of the agent that does what no other was named for, and tries what another failed at."""
        return next(iter(self.executors))

    def executor(self, step: PlanStep) -> Executor:
        """The agent of a step: the one it names, else the primary one."""
        return self.executors.get(step.agent or "", self.executors[self.primary])

    def limit(self, progress: FlowProgress, context: RunContext) -> Budget:
        """The limits in force for the whole run: the context's, else the flow's, and what a person raised since."""
        return Budget.of(context).over(self.limits).raised(progress["raised"])

    def remaining(self, progress: FlowProgress, config: RunnableConfig, context: RunContext) -> Budget:
        """What is left of them."""
        usage, seconds = Usage.model_validate(progress["usage"]), seconds_of(progress, config)
        return self.limit(progress, context).after(progress["steps"], usage, seconds)

    def used(self, progress: FlowProgress, config: RunnableConfig) -> dict[str, float]:
        """What the run used, by kind of limit."""
        return used_kinds(progress["steps"], Usage.model_validate(progress["usage"]), seconds_of(progress, config))

    def leases(
        self, steps: list[PlanStep], progress: FlowProgress, config: RunnableConfig, context: RunContext
    ) -> list[Lease]:
        """Shares of what is left for steps that run at once; fewer than steps where there is too little."""
        remaining = self.remaining(progress, config, context)
        if remaining.seconds == 0:
            # Time goes on between the look at the limits and the start of the steps that it allowed.
            remaining = remaining.model_copy(update={"seconds": MOMENT})
        caps = [self.executor(step).limits for step in steps]
        return give_leases(remaining, self.limit(progress, context), caps)

    def describe_agents(self) -> str:
        """A line for each agent, as the planner's prompt shows them."""
        return "\n".join(f"- `{each.name}`: {each.description or 'an agent'}" for each in self.executors.values())


def steps_under_way(plan: Plan) -> list[PlanStep]:
    """The steps that are in progress, in plan order."""
    return [step for step in plan.steps if step.status == "in_progress"]
