"""Channels of which a step stores no more than what it writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any

from langgraph.channels.delta import DeltaChannel

SNAPSHOT_FREQUENCY = 1000
"""Fewest updates of a channel between two full copies of it in the database."""


class Growing(DeltaChannel[Any]):
    """A delta channel of a list that grows, copied in full each time that it has doubled.

    Copies at equal distances would make the file grow with the square of the list. LangGraph adds one every 5,000
    supersteps, unless `LANGGRAPH_DELTA_MAX_SUPERSTEPS_SINCE_SNAPSHOT` says else.
    """

    def __init__(
        self, reducer: Callable[[Any, Sequence[Any]], Any], typ: Any = None, *, snapshot_frequency: int = 1
    ) -> None:
        super().__init__(reducer, typ, snapshot_frequency=snapshot_frequency)

    @property
    def snapshot_frequency(self) -> int:
        """Updates until the next copy."""
        return max(SNAPSHOT_FREQUENCY, len(self.value) // 2) if self.is_available() else SNAPSHOT_FREQUENCY

    @snapshot_frequency.setter
    def snapshot_frequency(self, frequency: int) -> None:
        """Nothing. LangGraph hands each copy of a channel the frequency of the one before; here the list gives it."""


class NoneUntilWritten(DeltaChannel[Any]):
    """A delta channel that holds None until its first write, for values without an empty form."""

    def __init__(
        self, reducer: Callable[[Any, Sequence[Any]], Any], typ: Any = None, *, snapshot_frequency: int = 100
    ) -> None:
        super().__init__(reducer, NoneType, snapshot_frequency=snapshot_frequency)


def newest(value: Any, writes: Sequence[Any]) -> Any:
    """The reducer of a channel that holds what was written last."""
    return writes[-1] if writes else value
