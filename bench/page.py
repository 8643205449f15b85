"""The measurements as a page of Markdown, to be kept in `docs/`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

Report = dict[str, Any]

WORDS = {True: "yes", False: "**no**", None: "not measured"}


def page(report: Report, day: date) -> str:
    """The whole page: the machine, the figures to reach, and every table."""
    return "\n\n".join([*_head(report, day), *_race(report), *_rest(report)]) + "\n"


def _head(report: Report, day: date) -> Iterator[str]:
    machine = report["machine"]
    yield "# Benchmarks"
    yield (
        f"Measured on {day:%d %B %Y} by `make bench` on {machine['cores']} shared cores ({machine['machine']}, "
        f"{machine['system']}, Python {machine['python']}, SQLite {machine['sqlite']}), beside other work: the load "
        f"was {report['load_before']} before and {report['load_after']} after. So CPU time counts, and of it the least "
        "of several runs in turns; wall time says little here. Look at the ratios, which are from one run."
    )
    yield (
        "A step is a model's reply of about 110 characters with one tool call, and a result of about 440 characters. "
        "The model is scripted and costs nothing. Who keeps the run does so in SQLite with `synchronous=NORMAL` and "
        '`durability="sync"`, unless a table says else; pydantic-ai, openai-agents and smolagents keep nothing. Each '
        "measured run comes right behind one of three steps, so that nobody is charged for cold caches; files and "
        "tables are made before. `clew` is measured with a tool that says nothing of itself, so that each call goes "
        "through the journal."
    )
    yield "## Figures to reach"
    rows = [
        [
            row["what"],
            f"{'≥' if row['at_least'] else '≤'} {row['bound']:g}",
            _figure(row["measured"]),
            WORDS[row["holds"]],
        ]
        for row in report["targets"]
    ]
    yield _table(["ratio", "bound", "measured", "reached"], rows)


def _race(report: Report) -> Iterator[str]:
    for synchronous, results in report.get("race", {}).items():
        yield f"## CPU per step, ms (`synchronous={synchronous}`)"
        yield _by_steps(results, "cpu_ms", "{:.2f}")
        if synchronous == "NORMAL":
            yield "![CPU per step](images/bench-cpu.png)"
            yield "## Database, MB"
            yield _by_steps(results, "bytes", "{:.2f}", 1e-6)
            yield "![Database](images/bench-database.png)"
            yield "## CPU to load the thread for a resume, ms"
            yield _by_steps(results, "resume_ms", "{:.1f}")
            yield "## Peak memory of the process, MB"
            yield _by_steps(results, "peak_mb", "{:.0f}")


def _rest(report: Report) -> Iterator[str]:
    if "requests" in report:
        yield "## Requests of 200 steps"
        rows = [
            [
                name,
                f"{found['median_bytes'] / 1e3:.1f}",
                f"{found['largest_bytes'] / 1e3:.1f}",
                f"{found['all_bytes'] / 1e6:.2f}",
                f"{found['repeated_share']:.1%}",
            ]
            for name, found in report["requests"].items()
        ]
        yield _table(["", "median kB", "largest kB", "all MB", "repeats the one before"], rows)
    if "cold_start" in report:
        yield "## Cold start, ms of CPU"
        yield _table(["", "CPU ms"], [[f"`{name}`", f"{taken:.0f}"] for name, taken in report["cold_start"].items()])
    if "versions" in report:
        yield "## Versions"
        yield _table(["", "version"], [[name, version] for name, version in report["versions"].items()])


def _by_steps(results: Mapping[str, Any], key: str, form: str, factor: float = 1.0) -> str:
    columns = sorted({steps for found in results.values() for steps in found}, key=int)
    rows = []
    for name, found in results.items():
        values = [found.get(steps, {}).get(key) for steps in columns]
        if any(values):
            rows.append([name, *("" if value is None else form.format(value * factor) for value in values)])
    return _table(["", *(f"{steps} steps" for steps in columns)], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    marks = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, marks, *rows])


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
