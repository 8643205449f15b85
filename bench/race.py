"""Measuring all contestants in turns, so that what else the machine does falls on all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from roster import Contestant

Results = dict[str, dict[str, dict[str, Any]]]
"""By contestant and by steps (a text, as in JSON): the report with the smallest figure of each kind."""


def race(
    contestants: Sequence[Contestant], repeats: Mapping[int, int], synchronous: str, tell: Callable[[str], None]
) -> Results:
    """Every contestant at every number of steps, so often; each round takes them one after the other."""
    results: Results = {contestant.name: {} for contestant in contestants}
    for steps, rounds in repeats.items():
        for number in range(rounds):
            for contestant in contestants:
                tell(f"{steps} steps, round {number + 1} of {rounds}, synchronous={synchronous}: {contestant.name}")
                report = contestant.measure(steps, synchronous)
                best = results[contestant.name].setdefault(str(steps), report)
                best.update({key: _least(best[key], value) for key, value in report.items()})
    return results


def _least(one: Any, other: Any) -> Any:
    return one if other is None else min(one, other)


def requests(contestants: Sequence[Contestant], steps: int, tell: Callable[[str], None]) -> dict[str, Any]:
    """Bytes of the requests, and the share of a request that repeats the beginning of the one before."""
    found = {}
    for contestant in contestants:
        tell(f"requests of {steps} steps: {contestant.name}")
        report = contestant.measure(steps, "NORMAL", requests=True)
        shares = [repeated / size for repeated, size in zip(report["repeated"], report["bytes"][1:], strict=True)]
        found[contestant.name] = {
            "steps": steps,
            "median_bytes": median(report["bytes"]),
            "largest_bytes": max(report["bytes"]),
            "all_bytes": sum(report["bytes"]),
            "repeated_share": sum(report["repeated"]) / sum(report["bytes"][1:]),
            "median_repeated_share": median(shares),
        }
    return found
