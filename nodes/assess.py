"""assess: what each call of a reply may break, and which of them a person is to see first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send

from ..state.agent import AgentState
from ..state.confirmation import PendingCall, Policy
from ..state.context import RunContext, run_context
from ..state.planning import AnyAgentState
from ..tools.assessment import risk_of_call
from ..tools.preview import kind_of_call, preview_of_call
from .dispatch import next_calls, unanswered_calls
from .equipment import Equipment, agent_path
from .node import node, route
from .policy import approved_kinds, asks_about, policy_in_force
from .reply import INVALID_ARGUMENTS
from .tool_config import tool_config
from .view import cut_middle

LONGEST_PREVIEW = 20_000
"""Characters of what a person is shown of one call."""


def assess_node(equipment: Equipment) -> RunnableCallable:
    """The node that finds the calls that wait for a person."""

    async def assess(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        history, progress = state["messages"], state["progress"]
        policy = await policy_in_force(equipment, runtime)
        approved = approved_kinds(progress, run_context(runtime))
        path = [*agent_path(config), equipment.spec.name]
        task, workspace = history[progress["task"]].id or "", equipment.workspace_of(runtime)
        own_config = tool_config(config, task=task, workspace=workspace, path=path)
        tools = (await equipment.toolbox_of(own_config)).tools
        found = [await _assessed(call, policy, tools, own_config) for call in unanswered_calls(history)]
        return {"pending": [call for call in found if call and call["kind"] not in approved]}

    return node(assess)


def route_assess(equipment: Equipment) -> RunnableCallable:
    """`confirm` where a call waits for a person, else the calls."""

    async def after_assess(
        state: AnyAgentState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> str | list[Send]:
        return "confirm" if state.get("pending") else next_calls(state, equipment, config, runtime)

    return route(after_assess)


async def _assessed(
    call: ToolCall, policy: Policy, tools: Mapping[str, BaseTool], config: RunnableConfig
) -> PendingCall | None:
    """The call with all that a person needs to decide; None where nobody is asked about it."""
    tool = tools.get(call["name"])
    if tool is None or INVALID_ARGUMENTS in call["args"]:
        return None  # `act` refuses it
    risk = await risk_of_call(tool, call["args"], config)
    if not await asks_about(policy, call, risk):
        return None
    preview = await preview_of_call(tool, call["args"], config)
    return PendingCall(
        id=call["id"] or "",
        name=call["name"],
        args=call["args"],
        risk=risk,
        kind=kind_of_call(tool, call["args"], risk),
        preview={**preview, "text": cut_middle(preview["text"], LONGEST_PREVIEW)},
    )
