"""`clew tools`: the tools that an agent may be given."""

from __future__ import annotations

from argparse import Namespace

from ...tools.catalog import build_tools, tool_names
from ...tools.extras import installing, is_installed
from ...tools.traits import traits_of
from .table import print_table


def run(arguments: Namespace) -> int:
    """List the tools with their risk, whether they may run beside others, and what they do."""
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
