"""Which context nodes a step begins with, before it thinks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from langgraph._internal._runnable import RunnableCallable

from ..state.agent import AgentState
from ..state.planning import AnyAgentState
from .equipment import Equipment
from .node import route

THINK = "think"

Due = Callable[[AgentState], bool]
"""Whether a step needs what a context node has to say. Asked at every step, so it is cheap."""

Begin = Callable[[AnyAgentState], str]
"""The node that a step begins with."""


class ContextNode(NamedTuple):
    """What puts live context into the request of a step, and nothing into the history."""

    make: Callable[[Equipment], RunnableCallable]
    """Makes the node. It writes the channel `context`, and keeps what an earlier node of the step wrote there."""

    due: Due | None = None
    """Whether the step needs it; None for every step."""


def route_unless_ended(following: Begin) -> RunnableCallable:
    """`terminate` where a node before think has ended the task, else the node that follows."""

    async def after(state: AnyAgentState) -> str:
        progress = state.get("progress")
        running = state.get("status") == "running"
        return "terminate" if running and progress and progress["ending"] else following(state)

    return route(after)


@dataclass(frozen=True)
class ContextChain:
    """The context nodes of an agent, in their order."""

    nodes: Sequence[tuple[str, Due | None]]
    """Name of each, and when it is due."""

    def begin(self, state: AnyAgentState) -> str:
        """The node that a step begins with: the first that is due, else `think`."""
        return self._next(state, 0)

    def targets(self, after: str = "") -> list[str]:
        """Nodes that may follow one of the chain, or that a step may begin with."""
        found = []
        for name, due in self.nodes[self._place(after) :]:
            found.append(name)
            if due is None:
                return found
        return [*found, THINK]

    def after(self, name: str) -> Begin:
        """What chooses the node that follows one of the chain."""
        place = self._place(name)
        return lambda state: self._next(state, place)

    def route(self, after: str = "") -> RunnableCallable:
        """The way on from one of the chain, or from what comes before a step."""
        place = self._place(after)

        async def following(state: AnyAgentState) -> str:
            return self._next(state, place)

        return route(following)

    def _next(self, state: AnyAgentState, place: int) -> str:
        return next((name for name, due in self.nodes[place:] if due is None or due(state)), THINK)

    def _place(self, after: str) -> int:
        return [name for name, _ in self.nodes].index(after) + 1 if after else 0
