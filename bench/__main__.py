"""`python bench`: measure, print the tables, write `bench/out/bench.json`, a page of Markdown and the charts."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sqlite3
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import charts
import cold_start
import plan
from environments import OUT
from page import page
from race import race, requests
from rich.console import Console
from roster import ROSTER, Contestant
from tables import cold_start_table, plan_tables, race_tables, request_table, target_table
from targets import targets

REPEATS = {10: 3, 50: 3, 200: 3, 1000: 2}
"""Rounds by steps; each takes the contestants one after the other, because the timings of a shared machine vary."""

QUICK = {10: 2, 200: 1}
PARTS = ("race", "requests", "cold", "plan")


def main() -> None:
    """Measure what the command line asks for. Ends with 0 also where a figure is not reached."""
    options = _options()
    console = Console()
    OUT.mkdir(exist_ok=True)
    with console.status("") as status:
        report = _measure(options, lambda what: status.update(what))
    for table in race_tables(report):
        console.print(table)
    if "requests" in report:
        console.print(request_table(report["requests"]))
    if "cold_start" in report:
        console.print(cold_start_table(report["cold_start"]))
    if "plan" in report:
        console.print(*plan_tables(report["plan"]))
    reached = targets(report)
    console.print(target_table(reached))
    console.print(f"load of the machine: {report['load_before']} before, {report['load_after']} after")
    report["targets"] = [{**vars(target), "holds": target.holds} for target in reached]
    (OUT / "bench.json").write_text(json.dumps(report, indent=1) + "\n")
    (OUT / "benchmarks.md").write_text(page(report, date.today()))
    if "race" in report:
        charts.draw(report, OUT)


def _measure(options: argparse.Namespace, tell: Callable[[str], None]) -> dict[str, Any]:
    report: dict[str, Any] = {"machine": _machine(), "load_before": _load()}
    chosen = [contestant for contestant in ROSTER if not options.only or _named(contestant, options.only)]
    if "race" in options.parts or "requests" in options.parts:
        report["versions"] = {contestant.name: contestant.prepare() for contestant in chosen}
    if "race" in options.parts:
        steps = {count: QUICK.get(count, 1) for count in options.steps or QUICK} if options.quick else _repeats(options)
        report["race"] = {"NORMAL": race(chosen, steps, "NORMAL", tell)}
        if not options.quick:
            persisting = [contestant for contestant in chosen if contestant.persists]
            report["race"]["FULL"] = race(persisting, dict.fromkeys(steps, 1), "FULL", tell)
    if "requests" in options.parts:
        report["requests"] = requests([each for each in chosen if each.records], 200, tell)
    if "cold" in options.parts:
        report["cold_start"] = cold_start.cold_start(3 if options.quick else 7, tell)
    if "plan" in options.parts:
        tell("plans")
        report["plan"] = plan.measure()
    return {**report, "load_after": _load()}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer steps and repeats, and synchronous=NORMAL alone")
    parser.add_argument("--only", metavar="NAME", nargs="+", help="contestants whose name begins so")
    parser.add_argument("--steps", metavar="N", nargs="+", type=int, help=f"numbers of steps, of {list(REPEATS)}")
    parser.add_argument("--parts", metavar="PART", nargs="+", default=PARTS, choices=PARTS, help=", ".join(PARTS))
    return parser.parse_args()


def _repeats(options: argparse.Namespace) -> dict[int, int]:
    return {steps: REPEATS.get(steps, 2) for steps in options.steps or REPEATS}


def _named(contestant: Contestant, names: Sequence[str]) -> bool:
    return any(contestant.name.startswith(name) for name in names)


def _machine() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
        "sqlite": sqlite3.sqlite_version,
    }


def _load() -> str:
    return " ".join(f"{load:.1f}" for load in os.getloadavg())


if __name__ == "__main__":
    main()
