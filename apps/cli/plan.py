"""`clew plan`: a task for a plan and the agents that carry it out."""

from __future__ import annotations

from argparse import Namespace

from ...graphs.specs import agent_spec, flow_agents
from ..session import PLAN
from .begin import Beginning, begin, begin_settings


def run(arguments: Namespace) -> int:
    """Have the task planned and its steps carried out; what no flag says comes from the `[runflow]` settings."""
    settings = begin_settings(arguments)
    agents = [agent_spec(name) for name in arguments.agents] if arguments.agents else flow_agents(settings)
    flags = {"parallel": arguments.parallel, "approve": arguments.approve}
    options = {name: value for name, value in flags.items() if value is not None}
    return begin(arguments, settings, Beginning(PLAN, agents, options, named=bool(arguments.agents)))
