"""The limits of one agent's task: those in force, and what is left of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

from ..state.agent import Progress
from ..state.context import RunContext
from ..state.limits import Budget, Lease, LimitKind, give_leases, used_kinds
from ..state.outcome import Usage
from ..state.settings import Settings
from ..state.spec import AgentSpec
from .clock import seconds_of


class Met(NamedTuple):
    """A limit that is met."""

    kind: LimitKind
    """What is used up."""

    used: float
    """How much was used of it: a last call may have taken it past the bound."""

    bound: float
    """The bound."""


class Meter(NamedTuple):
    """What bounds a task: the run's limit, or a child's lease of it, and the limit of the agent itself."""

    run: Budget
    """What all agents of the run together may use; for a child, what it and its own children may."""

    own: Budget
    """What the spec lets the agent use. Its steps are those that the agent takes itself."""

    base: int
    """ITERATION of the run when the agent began."""

    def left(self, progress: Progress, config: RunnableConfig) -> Budget:
        """What is left of both, the tighter of each kind."""
        usage, seconds = Usage.model_validate(progress["usage"]), seconds_of(progress, config)
        run = self.run.after(progress["iteration"] - self.base, usage, seconds)
        return run.within(self.own.after(progress["steps"], usage, seconds))

    def leases(self, count: int, progress: Progress, config: RunnableConfig) -> list[Lease]:
        """Shares of what is left for children that run at once; fewer where there is too little.

        The agent's own steps are not theirs to take.
        """
        lent = Meter(self.run, self.own.model_copy(update={"steps": None}), self.base)
        return give_leases(lent.left(progress, config), self.run, [Budget()] * count)

    def met(self, progress: Progress, config: RunnableConfig) -> Met | None:
        """The limit that is met; None where something of each is left."""
        usage, seconds = Usage.model_validate(progress["usage"]), seconds_of(progress, config)
        for budget, steps in ((self.run, progress["iteration"] - self.base), (self.own, progress["steps"])):
            if kind := budget.after(steps, usage, seconds).spent_kind():
                return Met(kind, used_kinds(steps, usage, seconds)[kind], getattr(budget, kind))
        return None


def meter(spec: AgentSpec, settings: Settings, context: RunContext, progress: Progress) -> Meter:
    """The limits in force: a child has its lease, the outermost agent the limits of the run's context or settings.

    A step limit of the context goes over the spec's: whoever starts the run knows the task. A limit that a person
    raised since goes over all.
    """
    run, own = context.lease, Budget.of(spec)
    if run is None:
        asked = Budget.of(context)
        run = asked.over(Budget.of(settings.limits))
        if asked.steps is not None:
            own = own.model_copy(update={"steps": None})
    raised = progress["raised"]
    return Meter(run.raised(raised), own.raised(raised), context.iteration)


def leased(lease: Mapping[str, Any], context: RunContext) -> Budget:
    """What a child may use, by a dump of its `Lease` and the context of the agent that gave it.

    A giver that went on with a higher limit since passes its children's part of the raise on.
    """
    given = Lease.model_validate(lease)
    return given.budget(context.lease or Budget.of(context).over(given.limit))
