"""Who is measured."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environments import OUT, python_of, version_in

SCRIPTS = Path(__file__).parent / "contestants"


@dataclass(frozen=True)
class Contestant:
    """One way to run an agent."""

    name: str
    """As the tables call it."""

    script: str
    """File in `contestants/`."""

    package: str
    """The distribution whose version counts."""

    variant: str = ""
    """Form of the contestant, as its script tells."""

    environment: str = ""
    """Folder of its environment; none for ours."""

    requires: tuple[str, ...] = ()
    """What is installed there."""

    persists: bool = True
    """Whether it keeps its run in SQLite."""

    records: bool = False
    """Whether its requests are measured too."""

    def prepare(self) -> str:
        """Make its environment; the version that is measured."""
        python_of(self.environment, self.requires)
        return version_in(self.environment, self.package)

    def measure(self, steps: int, synchronous: str, *, requests: bool = False) -> dict[str, Any]:
        """What its script reports of a run of so many steps, from a process of its own."""
        command = [
            *(python_of(self.environment, self.requires), str(SCRIPTS / f"{self.script}.py")),
            *("--steps", str(steps), "--synchronous", synchronous, "--variant", self.variant, "--folder", str(OUT)),
            *(["--requests"] if requests else []),
        ]
        done = subprocess.run(command, text=True, capture_output=True, check=False)
        if done.returncode:
            raise SystemExit(f"{self.name} failed at {steps} steps:\n{done.stderr}")
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return report


LANGCHAIN = ("langchain", "langgraph-checkpoint-sqlite", "aiosqlite")
DEEPAGENTS = ("deepagents", "langgraph-checkpoint-sqlite", "aiosqlite")

CLEW = "clew"
STOCK_SYNC = "create_agent, SqliteSaver"
STOCK_ASYNC = "create_agent, AsyncSqliteSaver"

ROSTER = (
    Contestant(CLEW, "clew_agent", "clew", "journal", records=True),
    Contestant("clew, idempotent tool", "clew_agent", "clew", "idempotent"),
    Contestant("clew, whole history sent", "clew_agent", "clew", "whole"),
    Contestant(STOCK_SYNC, "create_agent", "langchain", "sync", "langchain", LANGCHAIN, records=True),
    Contestant(STOCK_ASYNC, "create_agent", "langchain", "async", "langchain", LANGCHAIN),
    Contestant("deepagents, SqliteSaver", "deep_agent", "deepagents", "sync", "deepagents", DEEPAGENTS, records=True),
    Contestant(
        "pydantic-ai", "pydantic_ai_agent", "pydantic-ai-slim", "", "pydantic-ai", ("pydantic-ai-slim",), persists=False
    ),
    Contestant(
        "openai-agents", "openai_agent", "openai-agents", "", "openai-agents", ("openai-agents",), persists=False
    ),
    Contestant("smolagents", "smol_agent", "smolagents", "", "smolagents", ("smolagents",), persists=False),
)
