"""revise: the planner looks at the plan again. What is completed stays."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import ToolException
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from pydantic import ValidationError

from ..prompts.load import load_prompt
from ..state.context import RunContext, run_context
from ..state.errors import ModelError
from ..state.flow import FlowState, StepReport
from ..state.outcome import Usage
from ..state.plan import Plan
from ..state.plan_fold import apply_operations
from ..state.plan_operation import StepOperation, dump_operations
from ..tools.planning import Planning
from ..tools.plans import LivePlan, LivePlans, planned_operations
from .flow_equipment import FlowEquipment
from .node import node
from .publish import publish
from .record import earned_only
from .view import cut_middle

TRIES = 2
"""Calls of the planner in one revision: a second one after a call that could not be carried out."""

PLAN_LENGTH = 16_000
"""Characters of the plan that the planner sees."""

REPORT_LENGTH = 1_500
"""Characters of each report that the planner sees."""


def revise_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node in which the planner may change the plan; an answer in words leaves it as it is."""

    async def revise(state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        plan, progress = state["plan"], state["progress"]
        if plan is None:
            return {}
        try:
            operations, usage = await _ask(equipment, plan, state, config, runtime)
        except ModelError:
            # The plan can still be carried out as it is; what is blocked then ends the run with the truth.
            operations, usage = [], Usage()
        if operations:
            await publish(apply_operations(plan, operations), runtime, equipment.models.settings)
        spent = {"revisions": progress["revisions"] + 1, "usage": (Usage(**progress["usage"]) + usage).model_dump()}
        return {"plan": dump_operations(operations), "progress": {**progress, **spent}}

    return node(revise)


async def _ask(
    equipment: FlowEquipment, plan: Plan, state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]
) -> tuple[list[StepOperation], Usage]:
    context, usage = run_context(runtime), Usage()
    model = await equipment.models.chat_model(context)
    tool = Planning(plans=LivePlans(_reader(plan)), agents=list(equipment.executors))
    bound, request = model.bind_tools([tool]), _request(plan, state)
    for _ in range(TRIES):
        reply, spent = await equipment.models.ask(bound, request, context, config)
        usage += spent
        results = [await _carry_out(tool, call) for call in reply.tool_calls]
        if not any(result.status == "error" for result in results):
            return earned_only(planned_operations(results)), usage
        request = [*request, AIMessage(reply.content, tool_calls=reply.tool_calls), *results]
    return [], usage


async def _carry_out(tool: Planning, call: ToolCall) -> ToolMessage:
    identifier = call["id"] or ""
    if call["name"] != tool.name:
        return ToolMessage(f"There is no tool {call['name']!r} here.", tool_call_id=identifier, status="error")
    try:
        result: ToolMessage = await tool.ainvoke({**call, "type": "tool_call"})
    except (ToolException, ValidationError) as error:
        return ToolMessage(f"Error: {error}", tool_call_id=identifier, name=tool.name, status="error")
    return result


def _reader(plan: Plan) -> Any:
    async def read() -> LivePlan:
        return LivePlan(plan)

    return read


def _request(plan: Plan, state: FlowState) -> list[BaseMessage]:
    newest = {report["step"]: report for report in state["reports"]}
    reports = "\n\n".join(_describe(plan, newest[step.id]) for step in plan.steps if step.id in newest)
    text = load_prompt(
        "plan_revise",
        plan=cut_middle(plan.render(), PLAN_LENGTH),
        reports=cut_middle(reports, PLAN_LENGTH) or "(nothing yet)",
    )
    return [SystemMessage(text), HumanMessage(state["messages"][state["progress"]["task"]].content)]


def _describe(plan: Plan, report: StepReport) -> str:
    answer = cut_middle(report["answer"], REPORT_LENGTH)
    step = plan.step(report["step"])
    return f"{step.id} {step.text} — {report['agent']}: {report['status']} ({report['reason']})\n{answer}".strip()
