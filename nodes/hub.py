"""study, code, verify: the turns of the hub's agents; gate and finish: its limit and its end."""

from __future__ import annotations

import time
from typing import Any, cast
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from pydantic import ValidationError

from ..prompts.load import load_prompt
from ..state.agent import Ending
from ..state.context import RunContext, can_ask, run_context
from ..state.delegation import DelegateReport
from ..state.errors import UsageError
from ..state.hub import HubProgress, HubState, HubTurn, Role, Verdict
from ..state.metrics import no_counts
from ..state.outcome import Outcome, Usage
from .clock import clocked
from .delegate import child_config, delegate_report
from .ending import limit_ending, stopped_ending
from .equipment import agent_path
from .gate import ask_for_more, paused
from .hub_equipment import NAME, HubEquipment, counted, newest, own_turns, task_text
from .node import node, route
from .orders import STOP, asks, new_orders, obeyed, place_after
from .view import is_task

ENDS = frozenset({"rejected", "error", "cancelled"})
"""Statuses of an agent's run with which the hub ends too; after any other the work goes on with what there is."""


def turn_node(equipment: HubEquipment, role: Role, agent: CompiledStateGraph[Any, Any, Any, Any]) -> RunnableCallable:
    """The node that has `agent` do its part. The graph is its closure, so that drawing and state show it."""

    async def turn(state: HubState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        own = run_context(runtime)
        progress = current_hub_progress(state, equipment.max_rounds, own)
        context = equipment.child_context(progress, own, config, task_text(state["messages"], progress))
        message = HumanMessage(_request(role, state, progress), id=f"{role}-{len(state['turns'])}")
        result = await agent.ainvoke({"messages": [message]}, child_config(config, NAME), context=context)
        report = delegate_report(equipment.names[role], result, context)
        after = {**progress, **counted(progress, report), **clocked(progress, config, at_least=report.seconds)}
        told = HubTurn(role=role, round=progress["round"], report=report.model_dump(mode="json"))
        # A turn that the run's limit cut off is taken anew where the limit is raised.
        cut_off = report.status == "limit" and equipment.met(cast(HubProgress, after), own, config)
        course = {"next": role} if cut_off else _course(role, report, progress)
        return {"turns": [told], "progress": {**after, **course}, "status": "running", "outcome": None}

    return node(turn, name=role, has_child=True)


def route_turn(equipment: HubEquipment) -> RunnableCallable:
    """`finish` at an end, `gate` where a limit is met, else whose turn is next."""

    async def after_turn(state: HubState, config: RunnableConfig, runtime: Runtime[RunContext]) -> str:
        progress = state["progress"]
        if progress["ending"]:
            return "finish"
        met = equipment.met(progress, run_context(runtime), config)
        asked = asks(await new_orders(config, progress["inbox"]), "stop", "pause")
        return "gate" if met or asked else progress["next"]

    return route(after_turn)


def hub_gate_node(equipment: HubEquipment) -> RunnableCallable:
    """The node that obeys pause and stop, and asks whether the task may use more. Its agents read what is said."""

    async def gate(state: HubState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        progress, path = state["progress"], [*agent_path(config), NAME]
        orders = await new_orders(config, progress["inbox"])
        counted: dict[str, Any] = {**progress, **clocked(progress, config), "inbox": obeyed(orders, progress["inbox"])}
        if asks(orders, "stop"):
            return {"progress": {**counted, "ending": stopped_ending()}}
        if met := equipment.met(progress, run_context(runtime), config):
            fixed = run_context(runtime).fixed_limits or not can_ask(runtime)
            raised = {} if fixed else ask_for_more(met, path)
            if not raised:
                return {"progress": {**counted, "ending": limit_ending(met.kind)}}
            counted["raised"] = {**progress["raised"], **raised}
        if asks(orders, "pause") and paused(path) == STOP:
            return {"progress": {**counted, "ending": stopped_ending()}}
        return {"progress": counted}

    return node(gate)


def route_hub_gate() -> RunnableCallable:
    """`finish` if the task is to end, else whose turn is next."""

    async def after_gate(state: HubState) -> str:
        return "finish" if state["progress"]["ending"] else state["progress"]["next"]

    return route(after_gate)


def finish_node() -> RunnableCallable:
    """The node that writes how the task ended, and what its agents say of it."""

    async def finish(state: HubState, config: RunnableConfig) -> dict[str, Any]:
        progress = state["progress"]
        ending = progress["ending"] or Ending(status="error", success=False, reason="no turn", answer="")
        place = place_after(await new_orders(config, progress["inbox"]), progress["inbox"])
        told = own_turns(state["turns"], progress)
        verified = newest("verify", told)
        verdict = _verdict(verified) if verified else None
        answer = _answer(newest("code", told), verdict)
        outcome = Outcome(
            success=ending["success"],
            reason=ending["reason"],
            answer=answer,
            outputs=verdict.model_dump() if verdict else ending.get("outputs", {}),
        )
        return {
            "messages": [AIMessage(answer, id=str(uuid4()))] if answer else [],
            "progress": {**progress, **clocked(progress, config), "inbox": place},
            "status": ending["status"],
            "outcome": outcome,
        }

    return node(finish)


def current_hub_progress(state: HubState, max_rounds: int, context: RunContext) -> HubProgress:
    """The counters of the running task; fresh ones where the newest message sets a new task."""
    messages, progress = state["messages"], state.get("progress")
    places = [place for place, message in enumerate(messages) if is_task(message)]
    if not places:
        raise UsageError("the input has no message; give {'messages': [('user', 'the task')]}")
    if progress and progress["task"] == places[-1] and state.get("status") == "running":
        return progress
    return HubProgress(
        task=places[-1],
        turns=len(state.get("turns") or []),
        next="study",
        round=0,
        last_round=max_rounds,
        level=context.level,
        steps=0,
        iteration=context.iteration,
        inbox=progress["inbox"] if progress else context.inbox,
        raised={},
        seconds=0.0,
        clock=time.time(),
        approved=[],
        counts=no_counts(),
        usage=Usage().model_dump(),
        ending=None,
    )


def _request(role: Role, state: HubState, progress: HubProgress) -> str:
    task, told = task_text(state["messages"], progress), own_turns(state["turns"], progress)
    if role != "code":
        return load_prompt(f"hub_{role}", task=task)
    study, earlier, verified = (newest(each, told) for each in ("study", "code", "verify"))
    known = {"task": task, "study": _said(study)}
    if earlier is None:
        return load_prompt("hub_code", **known)
    verdict = _verdict(verified).summary if verified else "(it was not verified yet)"
    return load_prompt("hub_code_again", **known, earlier=_said(earlier), verdict=verdict)


def _course(role: Role, report: DelegateReport, progress: HubProgress) -> dict[str, Any]:
    """Where the hub goes after a turn: what is next, in which round, or how it ends."""
    if report.status in ENDS:
        ending = Ending(status=report.status, success=False, reason=report.reason, answer="", outputs=report.outputs)
        return {"next": role, "ending": ending}
    if role == "study":
        return {"next": "code", "round": 1}
    if role == "code":
        return {"next": "verify"}
    if _verdict(report).completed:
        return {"next": "finish", "ending": Ending(status="finished", success=True, reason="verified", answer="")}
    if progress["round"] < progress["last_round"]:
        return {"next": "code", "round": progress["round"] + 1}
    return {"next": "code", "ending": Ending(status="limit", success=False, reason="max_rounds", answer="")}


def _verdict(report: DelegateReport) -> Verdict:
    """The verdict of a verifying agent; one that gave none did not see the task completed."""
    try:
        return Verdict.model_validate(report.outputs)
    except ValidationError:
        said = _said(report)
        return Verdict(completed=False, summary=f"There is no verdict: {report.agent} ended as {report.status}. {said}")


def _said(report: DelegateReport | None) -> str:
    return (report.answer or report.left if report else "") or "(nothing)"


def _answer(code: DelegateReport | None, verdict: Verdict | None) -> str:
    said = _said(code) if code else ""
    judged = f"{'Verified' if verdict.completed else 'Not completed'}: {verdict.summary}" if verdict else ""
    return "\n\n".join(part for part in (said, judged) if part)
