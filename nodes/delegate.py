"""delegate_<agent>: another agent does a part of the task, with a history of its own, and answers once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ..prompts.load import load_prompt
from ..state.agent import ToolTask
from ..state.context import RunContext, run_context
from ..state.delegation import INPUTS, DelegateReport
from ..state.messages import Fresh
from ..state.outcome import Outcome, Usage
from ..tools.delegate import DelegateArguments
from .equipment import Equipment, agent_path
from .limits import leased
from .node import node
from .observation import observed
from .orders import orders_of
from .reply import fresh_id, text_of
from .services import call_services
from .view import cut_middle

NOT_BEGUN = "Not begun: nothing is left of the run's limits."

LEFT_RESULTS = 3
"""Newest tool results that the delegator is shown of an agent that ended without an answer."""

LEFT_LENGTH = 2_000
"""Characters of each of them."""


def delegate_node(
    equipment: Equipment, name: str, child: CompiledStateGraph[Any, Any, Any, Any], node_name: str
) -> RunnableCallable:
    """The node that has `child` do a task. The graph is its closure, so that drawing and state show it."""

    async def delegate(task: ToolTask, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        call, asked = task["call"], DelegateArguments.model_validate(task["call"]["args"])
        context = child_context(run_context(runtime), task)
        if context.lease and context.lease.is_spent():
            return {"messages": Fresh([_not_begun(call["id"] or "")])}
        text, given = delegated_task(asked.task, asked.inputs), {INPUTS: asked.inputs}
        request = HumanMessage(text, id=f"{call['id']}-task", additional_kwargs=given)
        state = await child.ainvoke({"messages": [request]}, child_config(config, equipment.spec.name), context=context)
        report = delegate_report(name, state, context)
        workspace = equipment.workspace_of(runtime)
        answer, services = _observation(call["id"] or "", report), call_services(config)
        observation = await observed(answer, equipment.spec.max_observe, workspace, services)
        return {"messages": Fresh([observation])}

    return node(delegate, name=node_name, has_child=True)


def child_context(context: RunContext, task: ToolTask) -> RunContext:
    """The context of an agent that gets a task from the one of `context`: its ITERATION, lease and approvals."""
    lease, approved = leased(task["lease"], context), [*context.approved, *task.get("approved", [])]
    root = context.root_task or task.get("root", "")
    own = replace(context, level=context.level + 1, iteration=task["iteration"], root_task=root)
    return replace(own, lease=lease, inbox=task["inbox"], approved=approved)


def child_config(config: RunnableConfig, delegator: str) -> RunnableConfig:
    """The config of an agent that gets a task from `delegator`."""
    own = {"agent_path": [*agent_path(config), delegator]}
    return {**config, "configurable": {**config.get("configurable", {}), **own}}


def delegated_task(task: str, inputs: Mapping[str, Any]) -> str:
    """The first message to the agent."""
    if not inputs:
        return task
    return load_prompt("delegated_task", task=task, inputs=_listed(inputs))


def delegate_report(agent: str, state: Mapping[str, Any], context: RunContext) -> DelegateReport:
    """How the agent's run ended, from its final state; a graph that is not ours is taken to have answered."""
    messages: list[AnyMessage] = list(state.get("messages", []))
    outcome: Outcome | None = state.get("outcome")
    progress = state.get("progress") or {}
    answer = outcome.answer if outcome else (messages[-1].text if messages else "")
    return DelegateReport(
        agent=agent,
        level=context.level,
        status=state.get("status", "finished"),
        success=outcome.success if outcome else True,
        reason=outcome.reason if outcome else "answer",
        answer=answer,
        outputs=outcome.outputs if outcome else {},
        left="" if answer or outcome is None else _left(messages),
        iterations=max(0, progress.get("iteration", 0) - context.iteration),
        usage=Usage.model_validate(progress.get("usage") or {}),
        orders=orders_of(state),
        seconds=progress.get("seconds", 0.0),
        approved=progress.get("approved", []),
        counts=progress.get("counts") or {},
    )


def _observation(call_id: str, report: DelegateReport) -> ToolMessage:
    outputs = f"Outputs:\n{_listed(report.outputs)}" if report.outputs else ""
    left = f"What it had:\n{report.left}" if report.left else ""
    result = "\n\n".join(part for part in (report.answer, outputs, left) if part) or "It said nothing."
    done = report.success and report.status == "finished"
    text = (
        load_prompt("delegate_done", agent=report.agent, result=result)
        if done
        else load_prompt(
            "delegate_failed", agent=report.agent, status=report.status, reason=report.reason, result=result
        )
    )
    return ToolMessage(
        text,
        artifact=report.model_dump(mode="json"),
        tool_call_id=call_id,
        name="delegate",
        id=fresh_id(),
        status="success" if done else "error",
    )


def _not_begun(call_id: str) -> ToolMessage:
    return ToolMessage(NOT_BEGUN, tool_call_id=call_id, name="delegate", id=fresh_id(), status="error")


def _listed(values: Mapping[str, Any]) -> str:
    return "\n".join(
        f"- {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
        for name, value in values.items()
    )


def _left(messages: Sequence[AnyMessage]) -> str:
    """The agent's last words, and its last results behind them."""
    said = next((text for text in map(_words, reversed(messages)) if text), "")
    results = [message for message in messages if isinstance(message, ToolMessage) and message.status != "error"]
    shown = [f"`{each.name}`: {cut_middle(text_of(each.content), LEFT_LENGTH)}" for each in results[-LEFT_RESULTS:]]
    return "\n\n".join(part for part in (said, *shown) if part)


def _words(message: AnyMessage) -> str:
    return text_of(message.content).strip() if isinstance(message, AIMessage) else ""
