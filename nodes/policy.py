"""Which tool calls a person is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import isawaitable

from langchain_core.messages import AnyMessage, ToolCall
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime

from ..state.agent import Progress
from ..state.confirmation import Policy, Risk
from ..state.context import RunContext, run_context
from ..tools.assessment import Assessing
from ..tools.traits import RISKY, traits_of
from .dispatch import unanswered_calls
from .equipment import Equipment

ASK_HUMAN = "ask_human"
"""The tool whose call is a question to the person already."""


async def policy_in_force(equipment: Equipment, runtime: Runtime[RunContext]) -> Policy:
    """The run's policy, else the graph's, else the settings', else the default.

    The default is `risky` where the agent has a tool whose commands no sandbox contains, else `never`.
    """
    chosen = run_context(runtime).confirm or equipment.confirm or equipment.settings.confirm
    return chosen or ("never" if await equipment.is_contained() else "risky")


async def may_ask(history: Sequence[AnyMessage], equipment: Equipment, runtime: Runtime[RunContext]) -> bool:
    """Whether any call of the newest reply may need a person: the cheap question, before risks are assessed."""
    calls = unanswered_calls(history)
    if not calls or _needs_nobody(calls, equipment):
        return False
    policy = await policy_in_force(equipment, runtime)
    if policy == "risky":
        return any(_may_be_risky(equipment.tools.get(call["name"]), equipment) for call in calls)
    return policy != "never"


async def asks_about(policy: Policy, call: ToolCall, risk: Risk) -> bool:
    """Whether the policy wants a person to see the call; a question to the person is itself no matter of `always`."""
    if callable(policy):
        wanted = policy(call, risk)
        return bool(await wanted if isawaitable(wanted) else wanted)
    return (policy == "always" and call["name"] != ASK_HUMAN) or (policy == "risky" and risk in RISKY)


def approved_kinds(progress: Progress, context: RunContext) -> list[str]:
    """Kinds of calls that a person approved for the rest of the run: here, and before this agent began."""
    return list(dict.fromkeys([*context.approved, *progress.get("approved", [])]))


def _needs_nobody(calls: Sequence[ToolCall], equipment: Equipment) -> bool:
    """Whether there is but one call, which asks the person itself, or ends the task and does no more than that."""
    name, tool = calls[0]["name"], equipment.tools.get(calls[0]["name"])
    ends = equipment.is_terminating(name) and (tool is None or traits_of(tool).risk != "high")
    return len(calls) == 1 and (ends or name == ASK_HUMAN)


def _may_be_risky(tool: BaseTool | None, equipment: Equipment) -> bool:
    if tool is None:
        return equipment.mcp is not None
    return isinstance(tool, Assessing) or traits_of(tool).risk in RISKY
