"""finalize: the answer of a plan run, and how it ended."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..prompts.load import load_prompt
from ..state.agent import Ending
from ..state.context import RunContext, run_context
from ..state.errors import ModelError
from ..state.flow import FlowState
from ..state.outcome import Outcome, Usage
from ..state.plan import Plan
from .clock import clocked
from .flow_equipment import FlowEquipment
from .node import node
from .orders import new_orders, place_after
from .view import cut_middle

RESULTS_LENGTH = 24_000
"""Characters of the results that the summary is made from, all together."""


def finalize_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node that sums up: by one model call without tools if all is done, else with what was achieved."""

    async def finalize(state: FlowState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        plan, progress = state.get("plan"), state["progress"]
        ending = progress["ending"] or Ending(status="error", success=False, reason="no plan", answer="")
        usage = Usage(**progress["usage"])
        answer = results_of(plan) if plan else ""
        if plan and ending["status"] == "finished":
            answer, spent = await _summary(equipment, state, plan, config, runtime)
            usage += spent
        messages = [AIMessage(answer, id=str(uuid4()))] if answer else []
        return {
            "messages": messages,
            "progress": {
                **progress,
                **clocked(progress, config),
                "inbox": place_after(await new_orders(config, progress["inbox"]), progress["inbox"]),
                "ending": {**ending, "answer": answer},
                "usage": usage.model_dump(),
            },
            "status": ending["status"],
            "outcome": Outcome(success=ending["success"], reason=ending["reason"], answer=answer),
        }

    return node(finalize)


def results_of(plan: Plan) -> str:
    """The plan with its marks, and the result of every step that has one."""
    results = [f"{step.text}:\n{step.result}" for step in plan.steps if step.result]
    return "\n\n".join([plan.render(), *results])


async def _summary(
    equipment: FlowEquipment, state: FlowState, plan: Plan, config: RunnableConfig, runtime: Runtime[RunContext]
) -> tuple[str, Usage]:
    context = run_context(runtime)
    each = RESULTS_LENGTH // len(plan.steps)
    prompt = load_prompt(
        "plan_finalize",
        task=state["messages"][state["progress"]["task"]].text,
        plan=cut_middle(plan.render(), RESULTS_LENGTH // 2),
        results="\n\n".join(f"{step.text}:\n{cut_middle(step.result, each)}" for step in plan.steps),
    )
    model = await equipment.models.chat_model(context)
    try:
        reply, usage = await equipment.models.ask(model, [HumanMessage(prompt)], context, config)
    except ModelError:
        # The work is done; that its summary failed must not lose it.
        return results_of(plan), Usage()
    return reply.text.strip() or results_of(plan), usage
