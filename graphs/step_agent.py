"""An agent from a function: the hub's interface `step(state) -> action` (seed ``agent-hub.md``) as a graph of ours.

The graph is the one of every agent. Only the node `think` is another: it asks the function instead of a model. So each
action is carried out by our tools, each step is a checkpoint, and limits, confirmation, loops and delegation hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from ..state.confirmation import Policy
from ..state.settings import Settings, load_settings
from ..state.spec import AgentSpec
from ..tools.board_plans import BoardPlans
from ..tools.catalog import build_installed, build_tools
from ..tools.planning import Planning
from .agent import AgentGraph, Thinking, create_agent
from .delegate import Child

if TYPE_CHECKING:
    from ..nodes.step import Step

TOOLS = ("bash", "python_execute", "str_replace_editor")
"""Tools of a function's agent that names none."""

OPTIONAL_TOOLS = ("browser_use", "web_fetch")
"""Further ones, where their packages are installed."""

ACTION_TOOLS = ("ask_human", "terminate", "reject")
"""Tools that carry out what every agent may do: ask, finish, reject."""

STEP = AgentSpec(
    name="step", description="A function that is given the state and gives the next action.", tools=TOOLS, max_steps=100
)
"""What an agent from a function is, where nothing else is said."""


def agent_from_step(
    step: Step,
    *,
    spec: AgentSpec = STEP,
    tools: Sequence[BaseTool] | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
    settings: Settings | None = None,
    workspace: Path | str | None = None,
    agents: Mapping[str, Child | str] | None = None,
    confirm: Policy | None = None,
) -> AgentGraph:
    """The graph of an agent whose every action a function decides on, to be invoked with `{"messages": […]}`.

    Args:
        step: Given a `State`, it gives an `Action`; a function or a coroutine function. Words (`MessageAction`) do not
            end the task: `AgentFinishAction` and `AgentRejectAction` do.
        spec: Name, limits and delegates of the agent; its prompts are not used.
        tools: Tools that carry out its actions, beside those for questions, plan and end; None makes the spec's.
        checkpointer: As in `create_agent`.
        store: As in `create_agent`.
        settings: As in `create_agent`.
        workspace: As in `create_agent`.
        agents: As in `create_agent`.
        confirm: As in `create_agent`.

    Raises:
        UsageError: there is no such agent or tool, or a setting is malformed.
    """
    from ..nodes.step import route_step, step_node  # the models of all events, which only such agents need
    from ..state.step_state import StepState

    settings, folder = settings or load_settings(), Path(workspace) if workspace else None
    if tools is None:
        named = build_tools(spec.tools, workspace=folder, settings=settings)
        optional = OPTIONAL_TOOLS if spec is STEP else spec.optional_tools
        tools = [*named, *build_installed(optional, workspace=folder, settings=settings)]
    always = [*build_tools(ACTION_TOOLS, settings=settings), Planning(plans=BoardPlans())]
    by_name = {tool.name: tool for tool in [*tools, *always]}
    return create_agent(
        spec,
        tools=list(by_name.values()),
        checkpointer=checkpointer,
        store=store,
        settings=settings,
        workspace=workspace,
        agents=agents,
        confirm=confirm,
        thinking=Thinking(step_node(step), route_step, StepState),
    )
