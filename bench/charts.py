"""The charts: what a step costs, and what a run leaves on disk, by its number of steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair
import pandas


def draw(report: dict[str, Any], folder: Path) -> list[Path]:
    """Draw `cpu.png` and `database.png` into the folder."""
    rows = [
        {"who": name, "steps": int(steps), "cpu": found["cpu_ms"], "megabytes": found["bytes"] / 1e6}
        for name, by_steps in report["race"]["NORMAL"].items()
        for steps, found in by_steps.items()
    ]
    data = pandas.DataFrame(rows)
    stored = data[data["megabytes"] > 0]
    drawn = {
        folder / "cpu.png": _chart(data, "cpu", "CPU per step, ms"),
        folder / "database.png": _chart(stored, "megabytes", "database, MB"),
    }
    for path, chart in drawn.items():
        chart.save(str(path), scale_factor=2)
    return list(drawn)


def _chart(data: pandas.DataFrame, field: str, title: str) -> altair.Chart:
    return (
        altair.Chart(data)
        .mark_line(point=True)
        .encode(
            x=altair.X("steps:Q", scale=altair.Scale(type="log"), axis=altair.Axis(values=sorted(set(data["steps"])))),
            y=altair.Y(f"{field}:Q", title=title, scale=altair.Scale(type="log")),
            color=altair.Color("who:N", title=None, sort=None),
        )
        .properties(width=420, height=280)
    )
