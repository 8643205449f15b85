"""The plan of a run, as the agent that works on it or on one of its steps sees it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.config import get_config

from ..state.errors import UsageError
from ..state.plan import Plan
from ..state.plan_fold import apply_operations
from ..state.plan_operation import StepOperation
from .plans import Change, Edit, LivePlan, LivePlans

BOARD = "__plan_board"
"""Entry of a run's `configurable` under which a tool call finds its `PlanBoard`. LangGraph's server writes every entry
into the checkpoints but those that begin so."""


@dataclass(frozen=True)
class PlanBoard:
    """The plan when the step was begun or the call was made, and what the agent asked for since."""

    plan: Plan | None
    """The plan, without its results; None where the agent has made none yet."""

    step: str = ""
    """Id of the step that the agent does; empty for the agent that owns the plan."""

    asked: list[StepOperation] = field(default_factory=list)
    """Operations that the agent asked for, in order; the graph folds them into the thread's plan."""

    def entry(self) -> Mapping[str, Any]:
        """As `configurable` carries it."""
        return {BOARD: self}


class BoardPlans(LivePlans):
    """The plan on the board of the run that calls the tool."""

    def __init__(self) -> None:
        super().__init__(_live_plan)

    async def edit(self, plan_id: str | None, edit: Edit) -> Change:
        """Ask for changes of the plan; the agent's next look shows them."""
        change = await super().edit(plan_id, edit)
        _board().asked.extend(item for item in change.operations if isinstance(item, StepOperation))
        return change


async def _live_plan() -> LivePlan:
    board = _board()
    return LivePlan(apply_operations(board.plan, board.asked) if board.plan else None, step=board.step)


def _board() -> PlanBoard:
    board = get_config().get("configurable", {}).get(BOARD)
    if not isinstance(board, PlanBoard):
        raise UsageError(
            "This planning tool belongs to the step of a plan run; use `planning` of the catalog elsewhere."
        )
    return board
