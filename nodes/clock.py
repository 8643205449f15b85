"""How long a task has been worked on, without the time spent waiting for a person."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

STARTED = "__clew_started"
"""Entry of a run's configuration: the Unix time at which this run of the thread began. Not kept in checkpoints."""


def seconds_of(counters: Mapping[str, Any], config: Mapping[str, Any]) -> float:
    """Seconds of work until now, of counters with `seconds` and the `clock` up to which they are counted."""
    seconds: float = clocked(counters, config)["seconds"]
    return seconds


def clocked(counters: Mapping[str, Any], config: Mapping[str, Any], at_least: float = 0.0) -> dict[str, float]:
    """`seconds` and `clock` of such counters as they are now.

    What lies between the clock and the beginning of the present run of the thread was a wait for a person.

    Args:
        counters: The counters.
        config: The configuration of the run.
        at_least: Seconds that a child worked since the clock; a person may have been asked in the middle of them.
    """
    now = time.time()
    started = config.get("configurable", {}).get(STARTED, 0.0)
    return {"seconds": counters["seconds"] + max(at_least, now - max(counters["clock"], started)), "clock": now}
