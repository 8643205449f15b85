"""The delta channels of every graph of ours: what a saver must know to rebuild a state without its graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, get_args, get_origin, get_type_hints

from langgraph.channels.delta import DeltaChannel
from typing_extensions import NotRequired, Required

from ..state.agent import AgentState
from ..state.flow import FlowState
from ..state.hub import HubState
from ..state.planning import PlanningState
from ..state.remote import RemoteState
from ..state.step_state import StepState

STATES: tuple[type, ...] = (AgentState, PlanningState, StepState, FlowState, HubState, RemoteState)
"""State schemas whose delta channels the savers of `open_saver` know. No two have delta channels of the same names."""

Channels = dict[str, DeltaChannel[Any]]


@dataclass(frozen=True)
class _State:
    names: frozenset[str]
    deltas: Channels

    def agrees_with(self, other: _State) -> bool:
        pairs = [(channel, other.deltas[name]) for name, channel in self.deltas.items()]
        return all(one.reducer == two.reducer and one.typ == two.typ for one, two in pairs)


class DeltaChannels:
    """The delta channels of some state schemas.

    A checkpoint names its delta channels and not their reducers. So whose they are is told by all of them together:
    a graph that has just one name in common with a schema has another reducer under it.
    """

    def __init__(self, *states: type) -> None:
        self._states = [_read(state) for state in states]
        self.names = frozenset(name for state in self._states for name in state.deltas)

    def of(self, deltas: Collection[str], written: Collection[str]) -> Channels | None:
        """The channels of the schema that has just these delta channels, and every channel that was written.

        None where no schema does, or several do that have different reducers.
        """
        wanted = set(deltas)
        fitting = [state for state in self._states if state.deltas.keys() == wanted and state.names >= set(written)]
        if not fitting or not all(state.agrees_with(fitting[0]) for state in fitting):
            return None
        return fitting[0].deltas


def _read(state: type) -> _State:
    hints = get_type_hints(state, include_extras=True)
    deltas = {
        name: _typed(channel, annotation)
        for name, annotation in ((name, _bare(hint)) for name, hint in hints.items())
        for channel in getattr(annotation, "__metadata__", ())
        if isinstance(channel, DeltaChannel)
    }
    return _State(frozenset(hints), deltas)


def _typed(channel: DeltaChannel[Any], annotation: Any) -> DeltaChannel[Any]:
    value_type = _bare(get_args(annotation)[0])
    origin = get_origin(value_type) or value_type
    return type(channel)(channel.reducer, origin, snapshot_frequency=channel.snapshot_frequency)


def _bare(annotation: Any) -> Any:
    """An annotation without what it says of the key: whether that may be missing."""
    return get_args(annotation)[0] if get_origin(annotation) in (Required, NotRequired) else annotation
