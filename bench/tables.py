"""The tables that are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from targets import Target

Report = dict[str, Any]


def race_tables(report: Report) -> Iterator[Table]:
    """Cost of a step and of a run, by contestant and number of steps."""
    for synchronous, results in report.get("race", {}).items():
        mode = f"SQLite synchronous={synchronous}, durability sync"
        yield _by_steps(f"CPU per step, ms ({mode})", results, "cpu_ms", "{:.2f}")
        yield _by_steps(f"Wall time per step, ms ({mode})", results, "wall_ms", "{:.2f}")
        if synchronous == "NORMAL":
            yield _by_steps("Database, MB", results, "bytes", "{:.2f}", 1e-6)
            yield _by_steps("CPU to load the thread, ms", results, "resume_ms", "{:.1f}")
            yield _by_steps("Peak memory of the process, MB", results, "peak_mb", "{:.0f}")
            yield _by_steps("of which the measured run added, MB", results, "grown_mb", "{:.1f}")


def _by_steps(title: str, results: Mapping[str, Any], key: str, form: str, factor: float = 1.0) -> Table:
    columns = list(dict.fromkeys(steps for found in results.values() for steps in found))
    table = _table(title, "", *[f"{steps} steps" for steps in columns])
    for name, found in results.items():
        values = [found.get(steps, {}).get(key) for steps in columns]
        if any(values):
            table.add_row(name, *["" if value is None else form.format(value * factor) for value in values])
    return table


def request_table(found: Mapping[str, Any]) -> Table:
    """What is sent."""
    steps = next(iter(found.values()))["steps"]
    table = _table(f"Requests of {steps} steps", "", "median kB", "largest kB", "all MB", "repeats the one before")
    for name, sizes in found.items():
        table.add_row(
            name,
            f"{sizes['median_bytes'] / 1e3:.1f}",
            f"{sizes['largest_bytes'] / 1e3:.1f}",
            f"{sizes['all_bytes'] / 1e6:.2f}",
            f"{sizes['repeated_share']:.1%}",
        )
    return table


def cold_start_table(found: Mapping[str, float]) -> Table:
    """What it takes to begin."""
    table = _table("Cold start", "", "CPU ms")
    for name, taken in found.items():
        table.add_row(name, f"{taken:.0f}")
    return table


def plan_tables(found: Report) -> Iterator[Table]:
    """How plans do."""
    pace, sizes = found["side_by_side"], found["prompts"]
    table = _table("Eight independent steps, a model of 0.5 s", "at once", "seconds")
    table.add_row("1", f"{pace['one']:.2f}")
    table.add_row("8", f"{pace['eight']:.2f}")
    table.add_row("times faster", f"{pace['speedup']:.1f}")
    yield table
    done = (0, 4, 9, 24, 35, 49)
    table = _table("Prompt of a step in a plan of 50", *[f"{count} done" for count in done])
    table.add_row(*[f"{sizes['bytes'][count]} B" for count in done])
    yield table


def target_table(found: Sequence[Target]) -> Table:
    """The figures to reach."""
    table = _table("Figures to reach", "", "bound", "measured", "holds")
    words = {True: "yes", False: "NO", None: "not measured"}
    for target in found:
        bound = f"{'≥' if target.at_least else '≤'} {target.bound:g}"
        measured = "" if target.measured is None else f"{target.measured:.3g}"
        table.add_row(target.what, bound, measured, words[target.holds])
    return table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", min_width=len(title))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table
