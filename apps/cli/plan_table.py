"""A plan as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence

from ...state.flow import StepReport
from ...state.outcome import Usage
from ...state.plan import Plan, PlanStep
from .report import brief

COLUMNS = ("", "step", "what", "agent", "after", "tries", "time", "tokens", "notes")

WIDTH = 50
"""Characters of a step's text and of its notes."""


def plan_rows(plan: Plan, reports: Sequence[StepReport]) -> list[tuple[str, ...]]:
    """A row for each step: its mark, who does it, attempts, seconds of the newest one, tokens of all, newest note."""
    return [
        (
            step.mark,
            step.id,
            brief(step.text, WIDTH),
            step.agent or "",
            ", ".join(step.depends_on),
            str(step.attempts),
            _seconds(step),
            f"{_tokens(step, reports):,}",
            brief(step.notes.splitlines()[-1], WIDTH) if step.notes else "",
        )
        for step in plan.steps
    ]


def _seconds(step: PlanStep) -> str:
    if step.started is None:
        return ""
    return f"{(step.ended if step.ended is not None else time.time()) - step.started:.1f} s"


def _tokens(step: PlanStep, reports: Sequence[StepReport]) -> int:
    spent = [Usage.model_validate(report["usage"]) for report in reports if report["step"] == step.id]
    return sum(usage.input_tokens + usage.output_tokens for usage in spent)
