"""`clew run`: a task for an agent."""

from __future__ import annotations

from argparse import Namespace

from ...graphs.specs import agent_spec
from .begin import Beginning, begin, begin_settings

DEFAULT_AGENT = "manus"


def run(arguments: Namespace) -> int:
    """Have one agent do the task."""
    spec = agent_spec(arguments.agent or DEFAULT_AGENT)
    return begin(arguments, begin_settings(arguments), Beginning("agent", [spec], named=bool(arguments.agent)))
