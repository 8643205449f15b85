"""The hub (the seed's Delegator, ``agent-hub.md``): study the repository, code, verify, and again until it is done.

::

    START → study → code → verify → finish → END
    verify ⇢ code                            while it is not completed and rounds are left
    study, code, verify ⇢ gate ⇢ …           where a limit of the whole run is met
    study, code, verify, gate ⇢ finish

Each of the three is an agent in a subgraph of its own. What they reported stands on the thread, so that a run that was
killed or paused goes on in the middle of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, Command

from ..nodes.ending import stopped_ending
from ..nodes.hub import current_hub_progress, finish_node, hub_gate_node, route_hub_gate, route_turn, turn_node
from ..nodes.hub_equipment import NAME, HubEquipment
from ..prompts.load import preload_prompts
from ..state.confirmation import Policy
from ..state.context import RunContext
from ..state.errors import UsageError
from ..state.hub import ROLES, HubInput, HubState, Role
from ..state.limits import Budget
from ..state.settings import Settings, load_settings
from ..state.spec import AgentSpec
from .agent import create_agent
from .delegate import AnyGraph
from .specs import agent_spec
from .unbounded import unbounded

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel

HubGraph = CompiledStateGraph[HubState, RunContext, HubInput, HubState]

HUB_AGENTS: Mapping[Role, str] = MappingProxyType({"study": "repo_study", "code": "code_act", "verify": "verifier"})
"""The built-in agents of the roles."""

DESCRIPTION = "Studies a repository, codes and verifies, in rounds, each by an agent of its own."


def create_hub(
    agents: Mapping[Role, AgentSpec | str | AnyGraph] | None = None,
    *,
    model: BaseChatModel | str | None = None,
    max_rounds: int = 3,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    settings: Settings | None = None,
    workspace: Path | str | None = None,
    confirm: Policy | None = None,
    tools: list[BaseTool] | None = None,
) -> HubGraph:
    """The graph of the hub, to be invoked with `{"messages": […]}`.

    Args:
        agents: Specs, names or graphs of the agents for `study`, `code` and `verify`; None for `HUB_AGENTS`. The one
            that verifies ends with the outputs `completed` and `summary`, as the tool `verdict` gives them.
        model: The chat model of agents that name none; None takes the settings'.
        max_rounds: Times that the task may be coded and verified.
        checkpointer: Where its threads are kept.
        store: LangGraph store handed to the nodes.
        settings: None reads `CLEW_*` and `clew.toml`.
        workspace: Folder of the run's files, shared by the agents; None for one folder a thread.
        confirm: Which tool calls a person is asked about; None takes the settings' policy.
        tools: An empty list makes a graph that is to be drawn and read; None gives the agents their own.

    Raises:
        UsageError: there is no such agent or tool, or a number is out of range.
    """
    if max_rounds < 1:
        raise UsageError("max_rounds must be at least 1")
    preload_prompts()
    settings = settings or load_settings()
    chosen: dict[Role, AgentSpec | AnyGraph] = {
        role: _found((agents or {}).get(role, HUB_AGENTS[role])) for role in ROLES
    }
    equipment = HubEquipment(
        names={role: agent.name for role, agent in chosen.items()},
        max_rounds=max_rounds,
        limits=Budget.of(settings.limits),
    )

    def make(agent: AgentSpec | AnyGraph) -> AnyGraph:
        if not isinstance(agent, AgentSpec):
            return agent
        return create_agent(
            agent,
            model=agent.model or model,
            tools=tools,
            settings=settings,
            workspace=workspace,
            confirm=confirm,
            level=1,
        )

    graph = _build(equipment, {role: make(agent) for role, agent in chosen.items()})
    return unbounded(graph.compile(checkpointer=checkpointer, store=store, name=NAME))


def hub_roles(agents: Sequence[AgentSpec]) -> dict[Role, AgentSpec]:
    """The agents by their roles, given in the order of these."""
    return dict(zip(ROLES, agents, strict=True))


def continue_hub(state: Mapping[str, Any]) -> Command[str]:
    """The command that takes up again a hub run that ended with a limit, an error or a stop.

    `state` holds the values of the thread. The turn that failed is taken anew; where the rounds were used up, there
    are as many again.
    """
    progress = state["progress"]
    spent = progress["round"] >= progress["last_round"] and progress["next"] == "code"
    more = {"round": progress["round"] + 1, "last_round": progress["last_round"] * 2} if spent else {}
    again = {"progress": {**progress, **more, "ending": None}, "status": "running", "outcome": None}
    return Command(goto="gate", update=again)


def cancel_hub(state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The node and the update of the state by which a hub run that nobody runs is stopped.

    `state` holds the values of the thread. `finish` is left to run.
    """
    before = current_hub_progress(cast(HubState, state), 1, RunContext())
    return "gate", {"progress": {**before, "ending": stopped_ending()}, "status": "running", "outcome": None}


def _build(
    equipment: HubEquipment, agents: Mapping[Role, AnyGraph]
) -> StateGraph[HubState, RunContext, HubInput, HubState]:
    graph = StateGraph(HubState, context_schema=RunContext, input_schema=HubInput)
    for role, agent in agents.items():
        graph.add_node(role, turn_node(equipment, role, agent))
    graph.add_node("gate", hub_gate_node(equipment))
    graph.add_node("finish", finish_node())

    graph.add_edge(START, "study")
    graph.add_conditional_edges("study", route_turn(equipment), ["code", "gate", "finish"])
    graph.add_conditional_edges("code", route_turn(equipment), ["verify", "gate", "finish"])
    graph.add_conditional_edges("verify", route_turn(equipment), ["code", "gate", "finish"])
    graph.add_conditional_edges("gate", route_hub_gate(), ["study", "code", "verify", "finish"])
    graph.add_edge("finish", END)
    return graph


def _found(agent: AgentSpec | str | AnyGraph) -> AgentSpec | AnyGraph:
    return agent if isinstance(agent, CompiledStateGraph) else agent_spec(agent)
