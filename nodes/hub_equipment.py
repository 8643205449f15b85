"""What the nodes of the hub work with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig

from ..state.context import RunContext
from ..state.delegation import DelegateReport
from ..state.hub import HubProgress, HubTurn, Role
from ..state.limits import KINDS, Budget, used_kinds
from ..state.metrics import with_counts
from ..state.outcome import Usage
from .clock import seconds_of
from .limits import LENT, Met

NAME = "hub"
"""Name of the graph, and of the agent that it is to others."""


@dataclass(frozen=True)
class HubEquipment:
    """The agents' names and the bounds that the nodes of the hub share."""

    names: Mapping[Role, str]
    """Name of the agent of each role."""

    max_rounds: int
    """Rounds of coding and verifying that a task may take."""

    limits: Budget
    """What all agents may use together, unless the run's context says else."""

    def limit(self, progress: HubProgress, context: RunContext) -> Budget:
        """The limit in force: the hub's lease, or that of the context or the settings, and what was raised since."""
        raised = progress["raised"]
        if context.lease is None:
            return Budget.of(context).over(self.limits).raised(raised)
        return context.lease.raised({kind: raised[LENT + kind] for kind in KINDS if LENT + kind in raised})

    def left(self, progress: HubProgress, context: RunContext, config: RunnableConfig) -> Budget:
        """What is left of it."""
        seconds = seconds_of(progress, config)
        return self.limit(progress, context).after(progress["steps"], _usage(progress), seconds)

    def met(self, progress: HubProgress, context: RunContext, config: RunnableConfig) -> Met | None:
        """The kind of limit that is met; None where something of each is left."""
        if (kind := self.left(progress, context, config).spent_kind()) is None:
            return None
        used = used_kinds(progress["steps"], _usage(progress), seconds_of(progress, config))
        return Met(kind, used[kind], getattr(self.limit(progress, context), kind), context.lease is not None)

    def child_context(
        self, progress: HubProgress, context: RunContext, config: RunnableConfig, task: str
    ) -> RunContext:
        """The context of the agent whose turn it is: it may use all that is left for the task."""
        return replace(
            context,
            level=progress["level"] + 1,
            iteration=progress["iteration"],
            root_task=context.root_task or task,
            inbox=progress["inbox"],
            lease=self.left(progress, context, config),
            approved=list(dict.fromkeys([*context.approved, *progress["approved"]])),
        )


def own_turns(turns: Sequence[HubTurn], progress: HubProgress) -> list[tuple[Role, DelegateReport]]:
    """The turns of the newest task, in order."""
    own = turns[progress["turns"] :]
    return [(turn["role"], DelegateReport.model_validate(turn["report"])) for turn in own]


def newest(role: Role, told: Sequence[tuple[Role, DelegateReport]]) -> DelegateReport | None:
    """The newest turn of a role."""
    return next((report for each, report in reversed(told) if each == role), None)


def task_text(messages: Sequence[AnyMessage], progress: HubProgress) -> str:
    """What the person asked for."""
    return messages[progress["task"]].text


def counted(progress: HubProgress, report: DelegateReport) -> dict[str, Any]:
    """The counters that a turn changes."""
    inbox = progress["inbox"]
    return {
        "inbox": {**inbox, "orders": max(inbox["orders"], report.orders)},
        "steps": progress["steps"] + report.iterations,
        "iteration": progress["iteration"] + report.iterations,
        "approved": list(dict.fromkeys([*progress["approved"], *report.approved])),
        "counts": with_counts(progress["counts"], report.counts, report.agent),
        "usage": (_usage(progress) + report.usage).model_dump(),
    }


def _usage(progress: HubProgress) -> Usage:
    return Usage.model_validate(progress["usage"])
