"""The plan graph: plan, carry out, look again.

::

    START → create_plan → [approve_plan] → schedule → execute_step (one per ready step) → record → schedule …
    record ⇢ revise → schedule               where a step was blocked, or after each wave
    create_plan, approve_plan, schedule ⇢ finalize → END
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, Command

from ..nodes.approve_plan import approve_plan_node, route_approve_plan
from ..nodes.create_plan import create_plan_node, first_progress
from ..nodes.ending import stopped_ending
from ..nodes.execute_step import execute_step_node
from ..nodes.finalize import finalize_node
from ..nodes.flow_equipment import Executor, FlowEquipment, steps_under_way
from ..nodes.model_source import ModelSource
from ..nodes.record import record_node, route_record
from ..nodes.revise import revise_node
from ..nodes.schedule import EXECUTE, route_schedule, schedule_node
from ..prompts.load import preload_prompts
from ..state.confirmation import Policy
from ..state.context import RunContext
from ..state.errors import UsageError
from ..state.flow import FlowInput, FlowState, RevisePolicy, StepTask
from ..state.limits import Budget
from ..state.plan_operation import FinishStep, dump_operations
from ..state.settings import Settings, load_settings
from ..state.spec import AgentSpec
from ..tools.board_plans import BoardPlans
from ..tools.catalog import build_installed, build_tools
from ..tools.planning import Planning
from .agent import create_agent
from .quiet import quiet
from .specs import agent_spec
from .unbounded import unbounded

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]
PlanGraph = CompiledStateGraph[FlowState, RunContext, FlowInput, FlowState]


def create_plan_flow(
    agents: Mapping[str, AgentSpec | str | AnyGraph],
    *,
    model: BaseChatModel | str | None = None,
    parallel: int = 4,
    revise: RevisePolicy = "on_failure",
    max_revisions: int = 3,
    approve: bool = False,
    max_steps: int | None = None,
    retries: int = 1,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    settings: Settings | None = None,
    workspace: Path | str | None = None,
    confirm: Policy | None = None,
) -> PlanGraph:
    """The graph that plans a task and has agents carry the plan out, to be invoked with `{"messages": […]}`.

    Args:
        agents: The agents by their names in the plan: specs, names of built-in ones, or graphs. The first is primary.
        model: The planner's chat model, and that of agents that name none; None takes the settings'.
        parallel: Steps that may run at once.
        revise: When the planner looks at the plan again.
        max_revisions: Revisions that one run may make.
        approve: Whether a person is asked about the plan before it is carried out.
        max_steps: Think-act cycles of all agents together; None takes the `[limits]` of the settings.
        retries: Further attempts by the same agent at a step that failed, before the primary agent tries.
        checkpointer: Where its threads are kept.
        store: LangGraph store in which the plan library publishes the plan.
        settings: None reads `CLEW_*` and `clew.toml`.
        workspace: Folder of the run's files, shared by all agents; None for one folder a thread.
        confirm: Which tool calls of the agents a person is asked about; None takes the settings' policy.

    Raises:
        UsageError: there are no agents, or no such agent or tool, or a number is out of range.
    """
    _check(agents, parallel, max_revisions, max_steps)
    preload_prompts()
    settings = settings or load_settings()
    graphs = {name: _agent_graph(agent, model, settings, workspace, confirm) for name, agent in agents.items()}
    equipment = FlowEquipment(
        executors={name: _executor(name, agent) for name, agent in agents.items()},
        models=ModelSource(settings, model),
        parallel=parallel,
        revise=revise,
        max_revisions=max_revisions,
        limits=Budget(steps=max_steps).over(Budget.of(settings.limits)),
        retries=retries,
    )
    graph = _build(equipment, graphs, approve)
    compiled = graph.compile(checkpointer=checkpointer, store=store, name="plan")
    return unbounded(quiet(compiled))


def _build(
    equipment: FlowEquipment, agents: Mapping[str, AnyGraph], approve: bool
) -> StateGraph[FlowState, RunContext, FlowInput, FlowState]:
    nodes = {name: EXECUTE if len(agents) == 1 else f"{EXECUTE}_{name}" for name in agents}
    graph = StateGraph(FlowState, context_schema=RunContext, input_schema=FlowInput)
    graph.add_node("create_plan", create_plan_node(equipment))
    graph.add_node("schedule", schedule_node(equipment))
    for name, agent in agents.items():
        graph.add_node(nodes[name], execute_step_node(name, agent), input_schema=StepTask)
    graph.add_node("record", record_node(equipment))
    graph.add_node("revise", revise_node(equipment))
    graph.add_node("finalize", finalize_node(equipment))

    graph.add_edge(START, "create_plan")
    if approve:
        graph.add_node("approve_plan", approve_plan_node(equipment))
        graph.add_edge("create_plan", "approve_plan")
        graph.add_conditional_edges("approve_plan", route_approve_plan(), ["schedule", "finalize"])
    else:
        graph.add_edge("create_plan", "schedule")
    graph.add_conditional_edges("schedule", route_schedule(equipment, nodes), [*nodes.values(), "finalize"])
    for execute in nodes.values():
        graph.add_edge(execute, "record")
    graph.add_conditional_edges("record", route_record(equipment), ["revise", "schedule"])
    graph.add_edge("revise", "schedule")
    graph.add_edge("finalize", END)
    return graph


def continue_flow(state: Mapping[str, Any]) -> Command[str]:
    """The command that takes up again a plan run that ended with a limit, an error, a blocked plan or a stop.

    `state` holds the values of the thread. Its plan goes on, with a new allowance of revisions, which come first:
    what is blocked may be planned anew.
    """
    progress = {**state["progress"], "ending": None, "revisions": 0}
    plan = state.get("plan")
    goto = "create_plan" if plan is None else "revise" if plan.count("blocked") else "schedule"
    return Command(goto=goto, update={"progress": progress, "status": "running", "outcome": None})


def cancel_flow(state: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The node and the update of the state by which a plan run that nobody runs is stopped.

    `state` holds the values of the thread. `schedule` and `finalize` are left to run.
    """
    before = state.get("progress") or first_progress(state, task=0)
    update: dict[str, Any] = {"progress": {**before, "ending": stopped_ending()}, "status": "running", "outcome": None}
    plan = state.get("plan")
    if plan and (begun := steps_under_way(plan)):
        now = time.time()
        update["plan"] = dump_operations([FinishStep(step=step.id, status="not_started", at=now) for step in begun])
    return "record", update  # its route needs nothing but the state, and leads to the end


def _agent_graph(
    agent: AgentSpec | str | AnyGraph,
    model: BaseChatModel | str | None,
    settings: Settings,
    workspace: Path | str | None,
    confirm: Policy | None,
) -> AnyGraph:
    if isinstance(agent, CompiledStateGraph):
        return agent
    spec = agent_spec(agent)
    folder = Path(workspace) if workspace else None
    own = [tool for tool in spec.tools if tool != "planning"]
    tools = [
        *build_tools(own, workspace=folder, settings=settings),
        *build_installed(spec.optional_tools, workspace=folder, settings=settings),
        Planning(plans=BoardPlans()),
    ]
    return create_agent(
        spec, model=spec.model or model, tools=tools, settings=settings, workspace=folder, confirm=confirm
    )


def _executor(name: str, agent: AgentSpec | str | AnyGraph) -> Executor:
    if isinstance(agent, CompiledStateGraph):
        return Executor(name, agent.name or name, Budget())
    spec = agent_spec(agent)
    return Executor(name, spec.description, Budget.of(spec))


def _check(agents: Mapping[str, Any], parallel: int, max_revisions: int, max_steps: int | None) -> None:
    if not agents:
        raise UsageError("a plan needs at least one agent; give {'manus': 'manus'}")
    if parallel < 1 or max_revisions < 0 or (max_steps is not None and max_steps < 1):
        raise UsageError("parallel and max_steps must be at least 1, and max_revisions at least 0")
