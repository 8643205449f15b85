"""`clew graph`: the drawing of an agent's graph, or of the plan graph."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from langchain_core.runnables.graph import Graph

from ...graphs import create_agent, create_flow, create_hub
from ...graphs.specs import agent_spec
from ...state.errors import UsageError
from ..session import HUB, PLAN


def run(arguments: Namespace) -> int:
    """Draw the graph as Mermaid text, in letters, or as a PNG, all without a network."""
    data = drawing(_graph(arguments.name, arguments.expand), arguments.format)
    target = arguments.output or (Path(f"{arguments.name}.png") if _for_a_file(arguments.format) else None)
    if target is None:
        sys.stdout.buffer.write(data)
        return 0
    try:
        target.write_bytes(data)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}") from error
    print(f"wrote {target}")
    return 0


def _graph(name: str, expand: bool) -> Graph:
    if name == PLAN:
        return create_flow().get_graph(xray=expand)
    if name == HUB:
        return create_hub(tools=[]).get_graph(xray=expand)
    return create_agent(agent_spec(name, others=[HUB, PLAN]), tools=[]).get_graph(xray=expand)


def drawing(graph: Graph, format: str) -> bytes:
    """The drawing as bytes of the format: `mermaid`, `ascii` or `png`."""
    if format == "mermaid":
        return graph.draw_mermaid().encode()
    if format == "ascii":
        from ..drawing_ascii import draw_ascii

        return f"{draw_ascii(graph)}\n".encode()
    from ..drawing_png import draw_png

    return draw_png(graph)


def _for_a_file(format: str) -> bool:
    return format == "png" and sys.stdout.isatty()
