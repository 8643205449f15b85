"""`clew tools`: the tools that an agent may be given."""

from __future__ import annotations

import json
from argparse import Namespace
from dataclasses import asdict
from typing import Any

from ...tools.catalog import build_tools, tool_names
from ...tools.extras import installing, is_installed
from ...tools.traits import traits_of
from .table import print_table


def run(arguments: Namespace) -> int:
    """List the tools with their risk, whether they may run beside others, and what they do."""
    if arguments.json:
        for name in tool_names():
            print(json.dumps(_fields(name)))
        return 0
    rows = []
    for name in tool_names():
        if not is_installed(name):
            rows.append((name, "", "", "", f"not installed: {installing(name)}"))
            continue
        [tool] = build_tools([name])
        traits = traits_of(tool)
        sentence = tool.description.strip().split(". ")[0].rstrip(".")
        rows.append((tool.name, traits.risk, "yes" if traits.parallel else "no", ", ".join(tool.args), sentence))
    print_table(("tool", "risk", "parallel", "arguments", "what it does"), rows)
    return 0


def _fields(name: str) -> dict[str, Any]:
    if not is_installed(name):
        return {"name": name, "installed": False, "remedy": installing(name)}
    [tool] = build_tools([name])
    return {
        "name": name,
        "installed": True,
        "description": tool.description,
        "arguments": tool.args,
        **asdict(traits_of(tool)),
    }
