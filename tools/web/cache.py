"""A cache of what was got a short while ago."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class RecentCache(Generic[KeyT, ValueT]):
    """Keeps at most `size` values, each for `seconds`; the one that was not used for longest goes first."""

    def __init__(self, size: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._seconds = seconds
        self._clock = clock
        self._values: OrderedDict[KeyT, tuple[float, ValueT]] = OrderedDict()

    def get(self, key: KeyT) -> ValueT | None:
        """The value of `key`; None where there is none, or it is too old."""
        kept = self._values.get(key)
        if kept is None or self._clock() >= kept[0]:
            return None
        self._values.move_to_end(key)
        return kept[1]

    def put(self, key: KeyT, value: ValueT) -> None:
        """Keep `value` under `key`."""
        self._values[key] = self._clock() + self._seconds, value
        self._values.move_to_end(key)
        if len(self._values) > self._size:
            self._values.popitem(last=False)
