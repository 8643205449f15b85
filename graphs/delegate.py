"""Agents as parts of an agent's graph: one node for each that it may give tasks to.

::

    think, check_stuck ⇢ delegate_<agent> (one task per call) → check_stuck
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from ..nodes.delegate import delegate_node
from ..nodes.equipment import Equipment
from ..state.errors import UsageError
from ..state.remote_agents import PREFIX
from ..state.spec import AgentSpec
from ..tools.delegate import DELEGATE
from ..tools.extras import is_installed
from .specs import agent_spec

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]
Child = AgentSpec | AnyGraph
"""An agent that tasks are given to: a spec, or a graph."""


def find_children(spec: AgentSpec, given: Mapping[str, Child | str], deepest: int, level: int) -> dict[str, Child]:
    """The agents that one at `level` may give tasks to, by name; none at the deepest level, so that cycles end.

    Raises:
        UsageError: the spec names an agent that there is not, or has `delegate` among its tools and names none.
    """
    if DELEGATE in spec.tools and not (spec.delegates or spec.optional_delegates):
        raise UsageError(f"agent {spec.name!r} has the tool `delegate` and nobody to delegate to: name `delegates`")
    if level >= deepest:
        return {}
    found = {name: _found(given.get(name, name)) for name in (*spec.delegates, *spec.optional_delegates)}
    return {
        _name(name, child): child for name, child in found.items() if name in spec.delegates or _is_installed(child)
    }


def purposes(children: Mapping[str, Child]) -> dict[str, str]:
    """What each agent is for, in a sentence, as far as it is known."""
    return {name: _purpose(name, child) for name, child in children.items()}


def add_children(
    graph: StateGraph[Any, Any, Any, Any],
    equipment: Equipment,
    children: Mapping[str, Child],
    make: Callable[[AgentSpec], AnyGraph],
) -> list[str]:
    """Add a node for each agent, and the edges from it; the names of the nodes."""
    nodes = []
    for name, child in children.items():
        agent = child if isinstance(child, CompiledStateGraph) else make(child)
        own = f"{DELEGATE}_{name}"
        graph.add_node(own, delegate_node(equipment, name, agent, own))
        graph.add_edge(own, "check_stuck")
        nodes.append(own)
    return nodes


def _found(agent: Child | str) -> Child:
    return agent if isinstance(agent, CompiledStateGraph) else agent_spec(agent)


def _name(name: str, child: Child) -> str:
    # An address is no name of a node.
    return child.name if isinstance(child, AgentSpec) and name.startswith(PREFIX) else name


def _is_installed(child: Child) -> bool:
    return not isinstance(child, AgentSpec) or all(map(is_installed, child.tools))


def _purpose(name: str, child: Child) -> str:
    purpose = child.description if isinstance(child, AgentSpec) else child.name
    return purpose or name
