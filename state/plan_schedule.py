"""Which steps of a plan may begin, and whether any ever will."""

from __future__ import annotations

from .plan import Plan, PlanStep


def ready_steps(plan: Plan, limit: int) -> list[PlanStep]:
    """The steps to begin, in plan order: not started, and all that they depend on is completed.

    Args:
        plan: the plan.
        limit: steps that may be in progress at once, those that already are included; at least 1.
    """
    completed = _completed(plan)
    room = max(0, limit - plan.count("in_progress"))
    return [step for step in plan.steps if _is_ready(step, completed)][:room]


def current_step(plan: Plan) -> PlanStep | None:
    """The step to work on next: the first that is in progress or ready; None if there is none.

    Source: seed ``planning-system.md``, "Think & Step Identification"; steps that wait for a blocked one are passed by.
    """
    completed = _completed(plan)
    for step in plan.steps:
        if step.status == "in_progress" or _is_ready(step, completed):
            return step
    return None


def is_done(plan: Plan) -> bool:
    """Whether every step is completed."""
    return all(step.status == "completed" for step in plan.steps)


def is_stalled(plan: Plan) -> bool:
    """Whether work is left and none of it can begin: a blocked step is in the way."""
    return not is_done(plan) and current_step(plan) is None


def _completed(plan: Plan) -> set[str]:
    return {step.id for step in plan.steps if step.status == "completed"}


def _is_ready(step: PlanStep, completed: set[str]) -> bool:
    return step.status == "not_started" and completed.issuperset(step.depends_on)
