"""`clew run`: a task for an agent."""

from __future__ import annotations

from argparse import Namespace

from ...graphs.hub import HUB_AGENTS
from ...graphs.specs import agent_spec
from ...state.hub import ROLES
from ..session import HUB
from .begin import Beginning, begin, begin_settings

DEFAULT_AGENT = "manus"


def run(arguments: Namespace) -> int:
    """Have one agent do the task, or the hub."""
    settings = begin_settings(arguments)
    if arguments.agent == HUB:
        specs = [agent_spec(HUB_AGENTS[role]) for role in ROLES]
        return begin(arguments, settings, Beginning(HUB, specs, named=True))
    spec = agent_spec(arguments.agent or DEFAULT_AGENT, others=[HUB])
    return begin(arguments, settings, Beginning("agent", [spec], named=bool(arguments.agent)))
