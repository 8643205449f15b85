"""approve_plan: a person approves, edits or rejects the plan before anything is done."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.types import interrupt

from ..state.agent import Ending
from ..state.errors import PlanError
from ..state.flow import FlowState
from ..state.plan import Plan
from ..state.plan_edit import update_plan
from ..state.question import Question
from .equipment import agent_path
from .flow_equipment import FlowEquipment
from .node import node, route

APPROVE, EDIT, REJECT = "approve", "edit", "reject"


def approve_plan_node(equipment: FlowEquipment) -> RunnableCallable:
    """The node that asks a person about the plan.

    Answers: `approve`; `reject` or `{"reject": reason}`; `{"steps": […], "title"?: …}` as `planning` takes them.
    """

    async def approve_plan(state: FlowState, config: RunnableConfig) -> dict[str, Any]:
        plan, problem = state["plan"], ""
        if plan is None:
            return {}
        while True:
            answer = interrupt(_question(plan, problem, list(agent_path(config))))
            try:
                return _decide(state, plan, answer, list(equipment.executors))
            except PlanError as error:
                problem = str(error)

    return node(approve_plan)


def route_approve_plan() -> RunnableCallable:
    """`finalize` for a rejected plan, else `schedule`."""

    async def after_approve_plan(state: FlowState) -> str:
        return "finalize" if state["progress"]["ending"] else "schedule"

    return route(after_approve_plan)


def _question(plan: Plan, problem: str, path: list[str]) -> Question:
    asked = "Shall this plan be carried out?"
    return Question(
        kind="plan",
        question=f"{problem} {asked}".strip(),
        options=[APPROVE, EDIT, REJECT],
        data={"plan": plan.model_dump(mode="json"), "text": plan.render()},
        path=path,
    )


def _decide(state: FlowState, plan: Plan, answer: Any, agents: list[str]) -> dict[str, Any]:
    if answer in (APPROVE, True) or (isinstance(answer, dict) and answer.get(APPROVE)):
        return {}
    if answer in (REJECT, False) or (isinstance(answer, dict) and REJECT in answer):
        said = answer[REJECT] if isinstance(answer, dict) else ""
        reason = said if isinstance(said, str) and said else "the plan was rejected"
        ending = Ending(status="rejected", success=False, reason=reason, answer="")
        return {"progress": {**state["progress"], "ending": ending}}
    if isinstance(answer, dict) and (edit := answer.get(EDIT, answer)) and isinstance(edit, dict):
        return {"plan": update_plan(plan, edit.get("title"), edit.get("steps"), agents)}
    raise PlanError(f'Answer {APPROVE}, {REJECT}, {{"{REJECT}": reason}} or {{"steps": [...]}}.')
