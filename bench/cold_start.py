"""CPU that it takes to begin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "clew --help": [str(Path(sys.executable).parent / "clew"), "--help"],
    "import langgraph.graph": [sys.executable, "-c", "import langgraph.graph"],
    "import clew.graphs": [sys.executable, "-c", "import clew.graphs"],
    "import langchain.agents, langgraph.checkpoint.sqlite": [
        sys.executable,
        "-c",
        "import langchain.agents, langgraph.checkpoint.sqlite",
    ],
}


def cold_start(rounds: int, tell: Callable[[str], None]) -> dict[str, float]:
    """Milliseconds of CPU of each command, the least of so many rounds in turns, after one that warms the disk."""
    least: dict[str, float] = {}
    for number in range(rounds + 1):
        tell(f"cold start, round {number} of {rounds}")
        for name, command in COMMANDS.items():
            taken = _cpu(command)
            if number:
                least[name] = min(taken, least.get(name, taken))
    return least


def _cpu(command: list[str]) -> float:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000
