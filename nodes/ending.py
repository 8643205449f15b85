"""Ends of a task that come from outside of its agent."""

from __future__ import annotations

from ..state.agent import Ending
from ..state.limits import LimitKind


def stopped_ending() -> Ending:
    """The end of a task that a person stopped."""
    return Ending(status="cancelled", success=False, reason="stopped", answer="")


def limit_ending(kind: LimitKind) -> Ending:
    """The end of a task that used up a kind of its limits; the reason names the limit."""
    return Ending(status="limit", success=False, reason=f"max_{kind}", answer="")
