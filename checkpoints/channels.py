"""The delta channels of every graph of ours: what a saver must know to rebuild a state without its graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args, get_origin, get_type_hints

from langgraph.channels.delta import DeltaChannel

from ..state.agent import AgentState
from ..state.flow import FlowState
from ..state.hub import HubState
from ..state.step_state import StepState

DeltaChannels = Mapping[str, DeltaChannel[Any]]

STATES: tuple[type, ...] = (AgentState, FlowState, HubState, StepState)
"""State schemas whose delta channels the savers of `open_saver` know."""


def delta_channels(*states: type) -> dict[str, DeltaChannel[Any]]:
    """The delta channels named in the annotations of the state schemas, by channel name."""
    return {
        name: _typed(channel, annotation)
        for state in states
        for name, annotation in get_type_hints(state, include_extras=True).items()
        for channel in getattr(annotation, "__metadata__", ())
        if isinstance(channel, DeltaChannel)
    }


def _typed(channel: DeltaChannel[Any], annotation: Any) -> DeltaChannel[Any]:
    value_type = get_args(annotation)[0]
    origin = get_origin(value_type) or value_type
    return type(channel)(channel.reducer, origin, snapshot_frequency=channel.snapshot_frequency)
