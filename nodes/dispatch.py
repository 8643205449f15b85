"""Which calls of a reply run next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import cast

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Send
from pydantic import ValidationError

from ..state.agent import AgentState, ToolTask
from ..state.context import RunContext
from ..state.limits import Budget, Lease
from ..state.planning import PlanningState
from ..tools.delegate import DELEGATE, DelegateArguments
from ..tools.run_services import Observable
from ..tools.traits import traits_of
from .equipment import Equipment
from .outputs import named_outputs
from .services import newest_saved

NOTHING = Budget(steps=0)


def next_calls(
    state: AgentState, equipment: Equipment, config: RunnableConfig, runtime: Runtime[RunContext]
) -> list[Send]:
    """One task for each call that may run now; none when the newest reply has all its answers.

    Calls of tools that may run beside others go together; any other call waits for those before it and goes alone.
    So the order that a model gave holds where it matters, and each call is a task with its own checkpointed result.
    Delegations for which too little of the run's limits is left beside the others wait too; where nothing is left,
    one goes on its way with nothing, to be told so.
    """
    history, progress = state["messages"], state["progress"]
    waiting = unanswered_calls(history)
    together = list(takewhile(lambda call: _runs_beside_others(call, equipment), waiting)) or waiting[:1]
    task = history[progress["task"]].id or ""
    delegated = [call for call in together if _delegate(call, equipment)]
    meter = equipment.meter(progress, runtime)
    leases = meter.leases(len(delegated), progress, config) if delegated else []
    leased = dict(zip([call["id"] for call in delegated], leases, strict=False))
    sends = [_send(call, task, state, equipment, leased.get(call["id"])) for call in together]
    begun = [send for send in sends if send]
    if not begun and delegated:
        return [_delegation(delegated[0], task, state, equipment, Lease(share=NOTHING, limit=meter.run))]
    return begun


def _send(call: ToolCall, task: str, state: AgentState, equipment: Equipment, lease: Lease | None) -> Send | None:
    if _delegate(call, equipment):
        return _delegation(call, task, state, equipment, lease) if lease else None
    return Send("act", _task(call, task, state, equipment))


def _delegation(call: ToolCall, task: str, state: AgentState, equipment: Equipment, lease: Lease) -> Send:
    iteration, approved = state["progress"]["iteration"], state["progress"].get("approved", [])
    given = ToolTask(call=call, task=task, iteration=iteration, lease=lease.model_dump(), approved=approved)
    given["inbox"] = state["progress"]["inbox"]
    given["root"] = state["messages"][state["progress"]["task"]].text
    return Send(f"{DELEGATE}_{_delegate(call, equipment)}", given)


def _delegate(call: ToolCall, equipment: Equipment) -> str:
    """The agent that the call gives a task to; none for a call that the tool itself is to refuse."""
    if call["name"] != DELEGATE or equipment.spec.tool_choice == "none":
        return ""
    try:
        agent = DelegateArguments.model_validate(call["args"]).agent
    except ValidationError:
        return ""
    return agent if agent in equipment.delegates else ""


def _task(call: ToolCall, task: str, state: AgentState, equipment: Equipment) -> ToolTask:
    given = _given(call, task, state, equipment)
    if outputs := named_outputs(call, state["messages"]):
        given["outputs"] = outputs
    return given


def _given(call: ToolCall, task: str, state: AgentState, equipment: Equipment) -> ToolTask:
    if isinstance(equipment.tools.get(call["name"]), Observable):
        return ToolTask(call=call, task=task, saved=newest_saved(state["messages"], call["name"]))
    if call["name"] != "planning" or "plan" not in state:
        return ToolTask(call=call, task=task, inbox=state["progress"]["inbox"])
    plan = cast(PlanningState, state)["plan"]
    inbox = state["progress"]["inbox"]
    return ToolTask(call=call, task=task, inbox=inbox, plan=plan.model_dump(mode="json") if plan else None)


def unanswered_calls(history: Sequence[AnyMessage]) -> list[ToolCall]:
    """The calls of the newest reply that have no result yet, in the reply's order."""
    answered = set()
    for message in reversed(history):
        if isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call["id"] not in answered]
        if not isinstance(message, ToolMessage):
            return []
        answered.add(message.tool_call_id)
    return []


def _runs_beside_others(call: ToolCall, equipment: Equipment) -> bool:
    tool = equipment.tools.get(call["name"])
    return not equipment.is_terminating(call["name"]) and (tool is None or traits_of(tool).parallel)
