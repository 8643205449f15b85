"""The limits of one agent's task: those in force, and what is left of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig

from ..state.agent import Progress
from ..state.context import RunContext
from ..state.limits import KINDS, Budget, Lease, LimitKind, give_leases, used_kinds
from ..state.outcome import Usage
from ..state.settings import Settings
from ..state.spec import AgentSpec
from .clock import seconds_of

LENT = "lent_"
"""Before the kind of a limit among those that a person raised: it is the child's lease that was raised."""


class Met(NamedTuple):
    """A limit that is met."""

    kind: LimitKind
    """What is used up."""

    used: float
    """How much was used of it: a last call may have taken it past the bound."""

    bound: float
    """The bound."""

    is_lease: bool = False
    """Whether it is what a child was given of the run's budget, which others share."""


class Meter(NamedTuple):
    """What bounds a task: the run's limit, or a child's lease of it, and the limit of the agent itself."""

    run: Budget
    """What all agents of the run together may use; for a child, what it and its own children may."""

    own: Budget
    """What the spec lets the agent use. Its steps are those that the agent takes itself."""

    base: int
    """ITERATION of the run when the agent began."""

    is_child: bool = False
    """Whether `run` is a lease."""

    def left(self, progress: Progress, config: RunnableConfig) -> Budget:
        """What is left of both, the tighter of each kind."""
        usage, seconds = Usage.model_validate(progress["usage"]), seconds_of(progress, config)
        run = self.run.after(progress["iteration"] - self.base, usage, seconds)
        return run.within(self.own.after(progress["steps"], usage, seconds))

    def leases(self, count: int, progress: Progress, config: RunnableConfig) -> list[Lease]:
        """Shares of what is left for children that run at once; fewer where there is too little.

        The agent's own steps are not theirs to take.
        """
        lent = self._replace(own=self.own.model_copy(update={"steps": None}))
        return give_leases(lent.left(progress, config), self.run, [Budget()] * count)

    def met(self, progress: Progress, config: RunnableConfig) -> Met | None:
        """The limit that is met; None where something of each is left."""
        usage, seconds = Usage.model_validate(progress["usage"]), seconds_of(progress, config)
        total = progress["iteration"] - self.base
        for budget, steps, is_lease in ((self.run, total, self.is_child), (self.own, progress["steps"], False)):
            used = used_kinds(steps, usage, seconds)
            if kind := budget.kind_met(used):
                return Met(kind, used[kind], getattr(budget, kind), is_lease)
        return None


def meter(spec: AgentSpec, settings: Settings, context: RunContext, progress: Progress) -> Meter:
    """The limits in force: a child has its lease, the outermost agent the limits of the run's context or settings.

    A limit of the context goes over the spec's: whoever starts the run knows the task. A limit that a person raised
    since goes over all.
    """
    own, raised = Budget.of(spec), progress["raised"]
    if context.lease is not None:
        lent: dict[str, float] = {kind: raised[LENT + kind] for kind in KINDS if LENT + kind in raised}
        return Meter(context.lease.raised(lent), own.raised(raised), context.iteration, is_child=True)
    asked = Budget.of(context)
    own = own.model_copy(update={kind: None for kind, bound in asked if bound is not None})
    run = asked.over(Budget.of(settings.limits))
    return Meter(run.raised(raised), own.raised(raised), context.iteration)


def leased(lease: Mapping[str, Any], context: RunContext) -> Budget:
    """What a child may use, by a dump of its `Lease` and the context of the agent that gave it.

    A giver that went on with a higher limit since passes its children's part of the raise on.
    """
    given = Lease.model_validate(lease)
    return given.budget(context.lease or Budget.of(context).over(given.limit))
