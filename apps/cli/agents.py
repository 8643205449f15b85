"""`clew agents`: the built-in agents."""

from __future__ import annotations

import json
from argparse import Namespace

from ...graphs import AGENTS
from ...graphs.hub import DESCRIPTION, HUB_AGENTS
from ...state.spec import AgentSpec
from ...tools.extras import is_installed
from ..session import HUB
from .table import print_table


def run(arguments: Namespace) -> int:
    """List the agents with their step limits and tools, and the hub with its agents."""
    if arguments.json:
        for spec in AGENTS.values():
            print(json.dumps(spec.model_dump(mode="json")))
        print(json.dumps({"name": HUB, "description": DESCRIPTION, "agents": list(HUB_AGENTS.values())}))
        return 0
    rows = [
        (name, str(spec.max_steps), ", ".join(_tools(spec)) or "none", spec.description)
        for name, spec in AGENTS.items()
    ]
    rows.append((HUB, "", ", ".join(HUB_AGENTS.values()), DESCRIPTION))
    print_table(("agent", "steps", "tools", "what for"), rows)
    return 0


def _tools(spec: AgentSpec) -> list[str]:
    return [*spec.tools, *filter(is_installed, spec.optional_tools)]
