"""How far a run has acted on what a person asked of it from outside."""

from __future__ import annotations

from typing_extensions import TypedDict


class InboxPlace(TypedDict):
    """The rows of the control inbox that were acted on, by the highest number of each sort."""

    words: int
    """Newest message of a person that the agent was given while it worked."""

    orders: int
    """Newest pause that is over, or stop that was obeyed, by this agent or a child of it."""


def inbox_start() -> InboxPlace:
    """The place of a run that has heard nothing yet."""
    return InboxPlace(words=0, orders=0)
