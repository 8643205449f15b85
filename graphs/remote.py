"""The graph of an agent elsewhere: it does the task over A2A, as a child of ours or by itself.

::

    START → submit → follow → conclude → END
    follow ⇢ ask → submit                    where it asks a person
    submit, follow ⇢ submit                  where the task was cancelled there when a person paused the run
"""

from __future__ import annotations

from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, Command

from ..nodes.remote import STOPPED, RemoteAgent, ask_node, conclude_node, follow_node, route_remote, submit_node
from ..state.agent import AgentInput
from ..state.context import RunContext
from ..state.errors import UsageError
from ..state.remote import RemoteState, RemoteTask
from ..state.settings import Settings
from ..state.spec import AgentSpec
from .unbounded import unbounded

RemoteGraph = CompiledStateGraph[RemoteState, RunContext, AgentInput, RemoteState]


def create_remote_agent(
    spec: AgentSpec, settings: Settings, *, checkpointer: Checkpointer = None, store: BaseStore | None = None
) -> RemoteGraph:
    """The graph of the agent at `spec.remote`, to be invoked with `{"messages": […]}`; nothing is reached here.

    Raises:
        UsageError: the spec names no address.
    """
    if spec.remote is None:
        raise UsageError(f"agent {spec.name!r} has no address: name it a2a:https://HOST")
    agent = RemoteAgent(spec.name, spec.remote, remote_key(spec.remote, settings))
    graph = StateGraph(RemoteState, context_schema=RunContext, input_schema=AgentInput)
    graph.add_node("submit", submit_node(agent))
    graph.add_node("follow", follow_node(agent))
    graph.add_node("ask", ask_node(agent))
    graph.add_node("conclude", conclude_node(agent))

    graph.add_edge(START, "submit")
    graph.add_conditional_edges("submit", route_remote(), ["submit", "follow", "ask", "conclude"])
    graph.add_conditional_edges("follow", route_remote(), ["submit", "ask", "conclude"])
    graph.add_edge("ask", "submit")
    graph.add_edge("conclude", END)
    return unbounded(graph.compile(checkpointer=checkpointer, store=store, name=spec.name))


def continue_remote(state: dict[str, Any]) -> Command[str]:
    """The command that gives the agent the task once more, after an error or a stop."""
    return Command(goto="submit", update={"status": "running", "outcome": None})


def cancel_remote(state: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The node and the update of the state by which a task that nobody runs is stopped; `conclude` is left to run."""
    earlier = state.get("remote") or RemoteTask(id="", context="", state="", said="")
    return "follow", {"remote": {**earlier, "state": STOPPED, "said": ""}, "status": "running", "outcome": None}


def remote_key(address: str, settings: Settings) -> str:
    """The key that the settings have for the agent at an address; empty for none."""
    keys = [each.key for each in settings.remotes.values() if each.url.rstrip("/") == address and each.key]
    return keys[0].get_secret_value() if keys else ""
