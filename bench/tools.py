"""Tools: what a command of bash and a warm call of Python cost, beside the targets.

`python bench/tools.py` prints a table and writes `bench/out/tools.json`. Each figure is the median of many calls,
without the first ones. Wall time grows with the load of the machine, which stands below the table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from environments import OUT
from langchain_core.tools import BaseTool
from rich.console import Console
from rich.table import Table

from clew.tools.bash import Bash
from clew.tools.python_execute import PythonExecute
from clew.tools.resources import resources
from clew.tools.sandbox.limits import SandboxOptions

WARM_UP = 5
STATEFUL = "python_execute, stateful"

FRAME = "python_execute, pandas preloaded, a frame printed"
"""Also what the code itself costs: the first table that a process makes and prints."""

TARGETS = {
    "bash, a command": 10.0,
    "python_execute, a warm call": 20.0,
    "python_execute, pandas preloaded": 30.0,
    FRAME: 30.0,
}
"""Milliseconds of wall time that each may take."""


def main() -> None:
    """Measure. Ends with 0 also where a target is not reached."""
    parser = argparse.ArgumentParser(prog="python bench/tools.py", description=__doc__)
    parser.add_argument("--calls", type=int, default=100, help="calls of each kind")
    parser.add_argument("--backend", choices=("bubblewrap", "local"), default="bubblewrap")
    options = parser.parse_args()
    found = asyncio.run(measure(options.backend, options.calls))
    OUT.mkdir(exist_ok=True)
    load = round(os.getloadavg()[0], 1)
    report = {"backend": options.backend, "calls": options.calls, "load": load, "targets_ms": TARGETS, "found": found}
    (OUT / "tools.json").write_text(json.dumps(report, indent=1) + "\n")
    console = Console()
    console.print(table(found, options.backend))
    console.print(f"load of the machine: {load}")


async def measure(backend: str, calls: int) -> dict[str, dict[str, Any]]:
    """Milliseconds of each kind of call, by its name."""
    with tempfile.TemporaryDirectory() as folder:
        given = {"workspace": Path(folder), "sandbox": SandboxOptions(backend=backend)}
        plain, pandas = PythonExecute(**given), PythonExecute(**given, preload=("pandas",))
        cases: dict[str, tuple[BaseTool, dict[str, Any]]] = {
            "bash, a command": (Bash(**given), {"command": "true"}),
            "python_execute, a warm call": (plain, {"code": "1 + 1"}),
            "python_execute, pandas preloaded": (pandas, {"code": "import pandas; int(pandas.Series([1, 2]).sum())"}),
            FRAME: (pandas, {"code": "import pandas\npandas.DataFrame({'a': [1, 2], 'b': ['x', 'y']})"}),
            STATEFUL: (plain, {"code": "1 + 1", "stateful": True}),
        }
        found = {name: await timed(tool, arguments, calls) for name, (tool, arguments) in cases.items()}
        await resources().close_all()
    return found


async def timed(tool: BaseTool, arguments: dict[str, Any], calls: int) -> dict[str, Any]:
    """Median and 90th percentile, in milliseconds."""
    taken = []
    for number in range(WARM_UP + calls):
        started = time.perf_counter()
        answer = await tool.ainvoke(arguments)
        if number >= WARM_UP:
            taken.append((time.perf_counter() - started) * 1000)
        assert "[exit code 0]" in answer, answer
    return {"median_ms": round(statistics.median(taken), 2), "p90_ms": round(statistics.quantiles(taken, n=10)[-1], 2)}


def table(found: dict[str, dict[str, Any]], backend: str) -> Table:
    """What was measured beside what was to be reached."""
    shown = Table(title=f"Tools in {backend}, wall time", title_justify="left")
    shown.add_column("")
    for column in ("median ms", "90 % below ms", "target ms", "holds"):
        shown.add_column(column, justify="right")
    for name, taken in found.items():
        target = TARGETS.get(name)
        verdict = ["", ""] if target is None else [f"≤ {target:g}", "yes" if taken["median_ms"] <= target else "NO"]
        shown.add_row(name, f"{taken['median_ms']:.1f}", f"{taken['p90_ms']:.1f}", *verdict)
    return shown


if __name__ == "__main__":
    main()
