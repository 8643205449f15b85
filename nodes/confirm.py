"""confirm: a person decides about the calls that `assess` found. It only asks: an interrupt runs its node again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import Send, interrupt

from ..prompts.load import load_prompt
from ..state.agent import AgentState
from ..state.confirmation import PendingCall
from ..state.context import RunContext, can_ask
from ..state.planning import AnyAgentState
from ..state.question import Question
from .decisions import OPTIONS, Decision, UnclearAnswer, read_answer
from .dispatch import next_calls, unanswered_calls
from .equipment import Equipment, agent_path
from .node import node, route
from .reply import fresh_id

Edits = dict[str | None, Mapping[str, Any]]
"""New arguments by the ids of the calls."""


def confirm_node(equipment: Equipment) -> RunnableCallable:
    """The node that asks a person about calls, and settles the reply as they decide.

    An approved call stays as it is, an edited one replaces the model's in the reply, a rejected one is answered with
    an error that gives the reason. Where nobody can be asked, every call that needs a person is rejected.
    """

    async def confirm(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        history, pending = state["messages"], state["pending"]
        if not can_ask(runtime):
            return {"messages": [_refused(call, "call_unapproved", risk=call["risk"]) for call in pending]}
        path = [*agent_path(config), equipment.spec.name]
        own_config = equipment.call_config(config, history[state["progress"]["task"]], runtime)
        decisions = _ask(pending, path, (await equipment.toolbox_of(own_config)).tools)
        update: dict[str, Any] = {"messages": _settled(history, pending, decisions, equipment)}
        if kinds := [decision.kind for decision in decisions.values() if decision.kind]:
            approved = state["progress"].get("approved", [])
            update["progress"] = {**state["progress"], "approved": list(dict.fromkeys([*approved, *kinds]))}
        return update

    return node(confirm)


def route_confirm(equipment: Equipment) -> RunnableCallable:
    """The calls that are left to run; `check_stuck` where none is."""

    async def after_confirm(
        state: AnyAgentState, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> str | list[Send]:
        return next_calls(state, equipment, config, runtime) or "check_stuck"

    return route(after_confirm)


def _ask(pending: Sequence[PendingCall], path: list[str], tools: Mapping[str, BaseTool]) -> dict[str, Decision]:
    decisions: dict[str, Decision] = {}
    problem = ""
    while undecided := [call for call in pending if call["id"] not in decisions]:
        answer = interrupt(_question(undecided, problem, path))
        try:
            decisions |= read_answer(answer, undecided, tools)
            problem = ""
        except UnclearAnswer as error:
            problem = str(error)
    return decisions


def _question(calls: Sequence[PendingCall], problem: str, path: list[str]) -> Question:
    named = ", ".join(f"{call['name']} ({call['risk']} risk)" for call in calls)
    return Question(
        kind="confirm",
        question=f"{problem} May {path[-1]} call {named}?".strip(),
        options=list(OPTIONS),
        data={"calls": [dict(call) for call in calls]},
        path=path,
    )


def _settled(
    history: Sequence[AnyMessage],
    pending: Sequence[PendingCall],
    decisions: Mapping[str, Decision],
    equipment: Equipment,
) -> list[AnyMessage]:
    """The reply anew if a call of it was edited, and an answer to each call that will not run."""
    edits: Edits = {name: decision.args for name, decision in decisions.items() if decision.args is not None}
    rejected = {name: decision.reason for name, decision in decisions.items() if decision.verdict == "reject"}
    refused = [
        _refused(call, "call_rejected", reason=rejected[call["id"]]) for call in pending if call["id"] in rejected
    ]
    if rejected:
        # The model is to see the rejection, so the task does not end with this reply.
        ends = [call for call in unanswered_calls(history) if equipment.is_terminating(call["name"])]
        refused += [_refused(call, "call_after_rejection") for call in ends if call["id"] not in rejected]
    return [*([with_arguments(_newest_reply(history), edits)] if edits else []), *refused]


def _refused(call: PendingCall | ToolCall, prompt: str, **values: str) -> ToolMessage:
    text = f"Error: {load_prompt(prompt, **values)}"
    return ToolMessage(text, tool_call_id=call["id"] or "", name=call["name"], id=fresh_id(), status="error")


def _newest_reply(history: Sequence[AnyMessage]) -> AIMessage:
    return next(message for message in reversed(history) if isinstance(message, AIMessage))


def with_arguments(reply: AIMessage, edits: Edits) -> AIMessage:
    """The reply with other arguments, in its calls and in the blocks of its content that repeat them."""
    calls = [{**call, "args": dict(edits.get(call["id"], call["args"]))} for call in reply.tool_calls]
    content = reply.content
    if isinstance(content, list):
        content = [_edited_block(block, edits) if isinstance(block, dict) else block for block in content]
    return reply.model_copy(update={"tool_calls": calls, "content": content})


def _edited_block(block: dict[Any, Any], edits: Edits) -> dict[Any, Any]:
    """A block of Anthropic's (`input`), of LangChain's (`args`) or of OpenAI's responses (`arguments`)."""
    args = edits.get(block.get("call_id") or block.get("id"))
    if args is None:
        return block
    new = {"input": dict(args), "args": dict(args), "arguments": json.dumps(args, ensure_ascii=False)}
    return {**block, **{name: value for name, value in new.items() if name in block}}
