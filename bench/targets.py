"""The figures to reach, as ratios within one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from roster import CLEW, STOCK_ASYNC, STOCK_SYNC

Report = dict[str, Any]


@dataclass(frozen=True)
class Target:
    """One figure to reach."""

    what: str
    """What is compared."""

    bound: float
    """The ratio to reach."""

    measured: float | None
    """The ratio of this run; None where a part of it was not measured."""

    at_least: bool = False
    """Whether the ratio must not be smaller, instead of not larger."""

    @property
    def holds(self) -> bool | None:
        """Whether it is reached."""
        if self.measured is None:
            return None
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound


def targets(report: Report) -> list[Target]:
    """All figures to reach, with what the run measured."""

    def cpu(name: str, steps: int) -> float:
        return float(report["race"]["NORMAL"][name][str(steps)]["cpu_ms"])

    def size(name: str, steps: int) -> float:
        return float(report["race"]["NORMAL"][name][str(steps)]["bytes"])

    def baseline(steps: int) -> float:
        return min(cpu(STOCK_SYNC, steps), cpu(STOCK_ASYNC, steps))

    def start(name: str) -> float:
        return float(report["cold_start"][name])

    return [
        Target("CPU per step, clew at 1000 steps : at 10", 1.25, _ratio(lambda: cpu(CLEW, 1000) / cpu(CLEW, 10))),
        Target(
            "CPU per step at 1000 steps, clew : create_agent", 0.2, _ratio(lambda: cpu(CLEW, 1000) / baseline(1000))
        ),
        Target("CPU per step at 10 steps, clew : create_agent", 1.0, _ratio(lambda: cpu(CLEW, 10) / baseline(10))),
        Target(
            "database at 1000 steps, clew : create_agent",
            0.01,
            _ratio(lambda: size(CLEW, 1000) / size(STOCK_SYNC, 1000)),
        ),
        Target(
            "CPU of import clew.graphs : langgraph.graph",
            1.15,
            _ratio(lambda: start("import clew.graphs") / start("import langgraph.graph")),
        ),
        Target(
            "eight independent steps, one at a time : --parallel 8",
            6.0,
            _ratio(lambda: float(report["plan"]["side_by_side"]["speedup"])),
            at_least=True,
        ),
        Target(
            "prompt of a step after 49 others : after 35, which fill its budget of results",
            1.1,
            _ratio(lambda: report["plan"]["prompts"]["bytes"][49] / report["plan"]["prompts"]["bytes"][35]),
        ),
    ]


def _ratio(measured: Callable[[], float]) -> float | None:
    try:
        return measured()
    except KeyError:
        return None
