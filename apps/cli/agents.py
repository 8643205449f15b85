"""`clew agents`: the built-in agents."""

from __future__ import annotations

from argparse import Namespace

from ...graphs import AGENTS
from .table import print_table


def run(arguments: Namespace) -> int:
    """List the agents with their step limits and tools."""
    rows = [
        (name, str(spec.max_steps), ", ".join(spec.tools) or "none", spec.description) for name, spec in AGENTS.items()
    ]
    print_table(("agent", "steps", "tools", "what for"), rows)
    return 0
