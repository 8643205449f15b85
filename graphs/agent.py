"""The agent graph. One graph serves every agent; an agent is data (`AgentSpec`).

::

    START → think → act (one task per tool call) → think …
    act ⇢ check_stuck → think                where calls ran side by side, or one leaves something to do
    think ⇢ assess ⇢ confirm ⇢ act           where a call may need a person
    START, act, check_stuck ⇢ observe_<name> → think   with the context nodes of a spec, where they are due
    observe_mcp ⇢ terminate                  where the servers of an agent that is nothing without them are gone
    START, act, check_stuck → condense → think    with condensers; without a summary that it needs ⇢ terminate
    check_stuck ⇢ act                        calls of the same reply that had to wait for their turn
    think, check_stuck ⇢ delegate_<agent> → check_stuck   with the delegates of a spec: see `graphs/delegate.py`
    START, think, check_stuck ⇢ gate ⇢ think where a limit is met, or a person asks for something from outside
    confirm ⇢ check_stuck                    where every call was rejected
    think, gate, check_stuck ⇢ terminate → END
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, Command

from ..nodes.act import act_node, route_act
from ..nodes.assess import assess_node, route_assess
from ..nodes.check_stuck import check_stuck_node, route_check_stuck
from ..nodes.condense import condense_node
from ..nodes.confirm import confirm_node, route_confirm
from ..nodes.context import ContextChain, ContextNode, route_unless_ended
from ..nodes.ending import stopped_ending
from ..nodes.equipment import MCP, Equipment
from ..nodes.gate import gate_node, route_gate, route_start
from ..nodes.model_source import ModelSource
from ..nodes.observe_browser import browser_in_use, observe_browser_node
from ..nodes.observe_mcp import observe_mcp_node
from ..nodes.observe_plan import observe_plan_node
from ..nodes.progress import current_progress
from ..nodes.terminate import terminate_node
from ..nodes.think import route_think, think_node
from ..prompts.load import preload_prompts
from ..state.agent import AgentInput, AgentState
from ..state.confirmation import Policy
from ..state.context import RunContext
from ..state.errors import UsageError
from ..state.planning import PlanningState
from ..state.settings import Settings, load_settings
from ..state.spec import AgentSpec
from ..tools.catalog import build_installed, build_tools
from ..tools.delegate import DELEGATE, delegate_tool
from .delegate import Child, add_children, find_children, purposes
from .quiet import quiet
from .remote import create_remote_agent
from .specs import agent_spec
from .unbounded import unbounded

if TYPE_CHECKING:  # what only some agents need is imported where they are made
    from langchain_core.language_models import BaseChatModel

    from ..tools.mcp.toolset import McpToolset

CONDENSE = "condense"
"""The node that makes a long history fit, in the graph of an agent with condensers."""

PLAN = "plan"
"""The context node of an agent that works by a plan of its own, which is then a channel of its state."""

CONTEXT_NODES: Mapping[str, ContextNode] = MappingProxyType(
    {
        MCP: ContextNode(observe_mcp_node),
        PLAN: ContextNode(observe_plan_node),
        "browser": ContextNode(observe_browser_node),
        "recent_browser": ContextNode(observe_browser_node, browser_in_use),
    }
)
"""What a spec's `context` may name; the node is called `observe_<name>`."""


class Thinking(NamedTuple):
    """What decides on each step of an agent."""

    node: Callable[[Equipment], RunnableCallable]
    """Makes the node `think`."""

    route: Callable[[Equipment], RunnableCallable]
    """Makes the routing function after it."""

    state: type[Any]
    """Schema of the agent's state."""


AgentGraph = CompiledStateGraph[AgentState, RunContext, AgentInput, AgentState]


def create_agent(
    spec: AgentSpec | str,
    *,
    model: BaseChatModel | str | None = None,
    tools: Sequence[BaseTool] | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    settings: Settings | None = None,
    workspace: Path | str | None = None,
    agents: Mapping[str, Child | str] | None = None,
    level: int = 0,
    confirm: Policy | None = None,
    thinking: Thinking | None = None,
) -> AgentGraph:
    """The graph of one agent, to be invoked with `{"messages": […]}`.

    Args:
        spec: What the agent is, or the name of a built-in one (`AGENTS`).
        model: A chat model or the name of one; None takes the spec's, then the settings'.
        tools: The agent's tools; None makes those that the spec names. With an empty list its delegates have none
            either: such a graph is to be drawn and read.
        checkpointer: Where its threads are kept; None for a graph that is embedded, served or not resumed.
        store: LangGraph store handed to the nodes.
        settings: None reads `CLEW_*` and `clew.toml`.
        workspace: Folder of the run's files; None for one folder a thread.
        agents: Specs, names or graphs of agents by the names in `delegates`; those not here are built-in ones.
        level: Delegations above the agent; from the settings' `max_delegate_level` on it has no delegates.
        confirm: Which tool calls a person is asked about; None takes the settings' policy. A run's own goes over it.
        thinking: What decides on each step; None asks the model.

    Raises:
        UsageError: there is no such agent or tool, or a setting is malformed.
    """
    preload_prompts()
    spec, settings = agent_spec(spec), settings or load_settings()
    if spec.remote is not None:
        return cast("AgentGraph", create_remote_agent(spec, settings, checkpointer=checkpointer, store=store))
    children = find_children(spec, agents or {}, settings.max_delegate_level, level)
    equipment = _equip(spec, model, tools, settings, workspace, children, confirm)

    def make(child: AgentSpec) -> AgentGraph:
        own = child.model or model
        bare: list[BaseTool] | None = [] if tools is not None and not tools else None
        return create_agent(
            child,
            model=own,
            tools=bare,
            settings=settings,
            workspace=workspace,
            confirm=confirm,
            agents=agents,
            level=level + 1,
        )

    graph = _build(equipment, children, make, thinking or _asking(spec))
    return unbounded(quiet(graph.compile(checkpointer=checkpointer, store=store, name=equipment.spec.name)))


def _asking(spec: AgentSpec) -> Thinking:
    return Thinking(think_node, route_think, PlanningState if PLAN in spec.context else AgentState)


def _build(
    equipment: Equipment,
    children: Mapping[str, Child],
    make: Callable[[AgentSpec], AgentGraph],
    thinking: Thinking,
) -> StateGraph[Any, RunContext, AgentInput, Any]:
    graph = StateGraph(thinking.state, context_schema=RunContext, input_schema=AgentInput)
    context = _add_context(graph, equipment)
    graph.add_node("think", thinking.node(equipment))
    graph.add_node("assess", assess_node(equipment))
    graph.add_node("confirm", confirm_node(equipment))
    graph.add_node("act", act_node(equipment))
    delegates = add_children(graph, equipment, children, make)
    graph.add_node("check_stuck", check_stuck_node(equipment))
    graph.add_node("gate", gate_node(equipment))
    graph.add_node("terminate", terminate_node(equipment))

    calls, begin = ["act", *delegates], context.targets()
    graph.add_conditional_edges(START, route_start(context.begin), [*begin, "gate"])
    after_think = ["assess", *calls, "check_stuck", "gate", "terminate"]
    graph.add_conditional_edges("think", thinking.route(equipment), after_think)
    graph.add_conditional_edges("assess", route_assess(equipment), ["confirm", *calls])
    graph.add_conditional_edges("confirm", route_confirm(equipment), [*calls, "check_stuck"])
    graph.add_conditional_edges("act", route_act(equipment, context.begin), [*begin, "check_stuck"])
    after = [*begin, *calls, "gate", "terminate"]
    graph.add_conditional_edges("check_stuck", route_check_stuck(equipment, context.begin), after)
    graph.add_conditional_edges("gate", route_gate(context.begin), [*begin, "terminate"])
    graph.add_edge("terminate", END)
    return graph


def _add_context(graph: StateGraph[Any, Any, Any, Any], equipment: Equipment) -> ContextChain:
    """Put what a spec adds before think, one after the other: condensers first, then its context nodes."""
    names = equipment.context
    if unknown := [name for name in names if name not in CONTEXT_NODES]:
        raise UsageError(f"no context node {unknown[0]!r}; there are: {', '.join(CONTEXT_NODES)}")
    observing = [(f"observe_{name}", CONTEXT_NODES[name].due) for name in names]
    chain = ContextChain([(CONDENSE, None), *observing] if equipment.condensers else observing)
    if equipment.condensers:
        graph.add_node(CONDENSE, condense_node(equipment))
    for name in names:
        graph.add_node(f"observe_{name}", CONTEXT_NODES[name].make(equipment))
    for place, _ in chain.nodes:
        following = chain.targets(place)
        if place in (CONDENSE, f"observe_{MCP}"):
            graph.add_conditional_edges(place, route_unless_ended(chain.after(place)), [*following, "terminate"])
        elif len(following) == 1:
            graph.add_edge(place, following[0])
        else:
            graph.add_conditional_edges(place, chain.route(place), following)
    return chain


def continue_task(state: dict[str, Any]) -> Command[str]:
    """The command that takes up again a task that ended with a limit, an error, a loop or a stop.

    `state` holds the values of the thread. Its counters go on; the search for loops starts anew.
    """
    progress = {**state["progress"], "ending": None, "nudge": "", "watch": len(state["messages"])}
    return Command(goto="gate", update={"progress": progress, "status": "running", "outcome": None})


def cancel_task(state: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The node and the update of the state by which a task that nobody runs is stopped.

    `state` holds the values of the thread. `terminate` is left to run.
    """
    progress = {**current_progress(cast(AgentState, state), RunContext()), "ending": stopped_ending()}
    return "gate", {"progress": progress, "status": "running", "outcome": None}


def _equip(
    spec: AgentSpec,
    model: BaseChatModel | str | None,
    tools: Sequence[BaseTool] | None,
    settings: Settings,
    workspace: Path | str | None,
    children: Mapping[str, Child],
    confirm: Policy | None,
) -> Equipment:
    folder = Path(workspace) if workspace else None
    chosen = _own_tools(spec, folder, settings) if tools is None else list(tools)
    by_name = {tool.name: tool for tool in chosen if tool.name != DELEGATE}
    if children:
        by_name[DELEGATE] = delegate_tool(purposes(children))
    models = ModelSource(settings, model or spec.model)
    toolset = _mcp_toolset(spec, settings, list(by_name), folder)
    return Equipment(spec, by_name, models, settings, tuple(children), folder, confirm, toolset)


def _mcp_toolset(spec: AgentSpec, settings: Settings, own: list[str], workspace: Path | None) -> McpToolset | None:
    servers = settings.mcp.chosen(spec.mcp_servers)
    if spec.requires_mcp and not servers:
        raise UsageError(f"the agent {spec.name} needs an MCP server: add one to clew.toml as [mcp.servers.NAME]")
    if not servers:
        return None
    from ..tools.mcp.toolset import McpToolset

    return McpToolset(servers, settings.home, own=own, workspace=workspace)


def _own_tools(spec: AgentSpec, workspace: Path | None, settings: Settings) -> list[BaseTool]:
    named = build_tools(spec.tools, workspace=workspace, settings=settings)
    optional = build_installed(spec.optional_tools, workspace=workspace, settings=settings)
    tools = {tool.name: tool for tool in [*named, *optional]}
    if PLAN in spec.context:
        from ..tools.board_plans import BoardPlans
        from ..tools.planning import Planning

        tools["planning"] = Planning(plans=BoardPlans())
    return list(tools.values())
