"""Channels of which a step stores no more than what it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

from langgraph.channels.delta import DeltaChannel

SNAPSHOT_FREQUENCY = 1000
"""Updates of a growing channel between two full copies of it in the database."""


class NoneUntilWritten(DeltaChannel[Any]):
    """A delta channel that holds None until its first write, for values without an empty form."""

    def __init__(
        self, reducer: Callable[[Any, Sequence[Any]], Any], typ: Any = None, *, snapshot_frequency: int = 100
    ) -> None:
        super().__init__(reducer, NoneType, snapshot_frequency=snapshot_frequency)


def newest(value: Any, writes: Sequence[Any]) -> Any:
    """The reducer of a channel that holds what was written last."""
    return writes[-1] if writes else value
