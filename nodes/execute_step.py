"""execute_step: one step of the plan, by its agent, in a context of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from ..prompts.load import load_prompt
from ..state.context import RunContext, run_context
from ..state.flow import StepReport, StepTask
from ..state.metrics import no_counts
from ..state.outcome import Usage
from ..state.plan import Plan
from ..state.plan_operation import dump_operations
from ..tools.board_plans import PlanBoard
from ..tools.plans import planned_operations, tool_execution
from .equipment import agent_path
from .limits import leased
from .node import node
from .orders import orders_of
from .view import cut_middle

PLAN_LENGTH = 8_000
"""Characters of the plan in a step's prompt."""


def execute_step_node(name: str, agent: CompiledStateGraph[Any, Any, Any, Any]) -> RunnableCallable:
    """The node that has `agent` do a step. The agent is its closure, so that drawing and state show the child graph."""

    async def execute_step(
        task: StepTask, config: RunnableConfig, runtime: Runtime[RunContext]
    ) -> dict[str, list[StepReport]]:
        # The share is the attempt's whole budget, and only the flow can give it more.
        own = run_context(runtime)
        approved = [*own.approved, *task.get("approved", [])]
        context = replace(
            own, lease=leased(task["lease"], own), inbox=task["inbox"], fixed_limits=True, approved=approved
        )
        plan = Plan.model_validate(task["plan"])
        request = {"messages": [HumanMessage(_prompt(task, plan), id=f"{task['step']}-task")]}
        state = await agent.ainvoke(request, _child_config(config, PlanBoard(plan, task["step"])), context=context)
        return {"reports": [_report(task["step"], name, state)]}

    return node(execute_step, name=f"execute_step_{name}", has_child=True)


def _prompt(task: StepTask, plan: Plan) -> str:
    return load_prompt(
        "plan_step",
        plan=cut_middle(plan.render(), PLAN_LENGTH),
        results=task["results"],
        notes=plan.step(task["step"]).notes or "(none)",
        step=" ".join(task["text"].split()),
    )


def _child_config(config: RunnableConfig, board: PlanBoard) -> RunnableConfig:
    own = {"agent_path": [*agent_path(config), board.step], **board.entry()}
    return {**config, "configurable": {**config.get("configurable", {}), **own}}


def _report(step: str, agent: str, state: dict[str, Any]) -> StepReport:
    messages: list[AnyMessage] = state.get("messages", [])
    outcome, progress = state.get("outcome"), state.get("progress") or {}
    return StepReport(
        step=step,
        agent=agent,
        status=state.get("status", "finished"),
        success=outcome.success if outcome else True,
        reason=outcome.reason if outcome else "answer",
        answer=outcome.answer if outcome else (messages[-1].text if messages else ""),
        steps=progress.get("steps", 0),
        usage=progress.get("usage") or Usage().model_dump(),
        approved=progress.get("approved", []),
        orders=orders_of(state),
        seconds=progress.get("seconds", 0.0),
        counts=progress.get("counts") or no_counts(),
        operations=dump_operations(planned_operations(messages)),
        executions=[tool_execution(message).model_dump() for message in messages if isinstance(message, ToolMessage)],
    )
