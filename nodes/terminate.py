"""terminate: the only way out."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime

from ..state.agent import AgentState, Ending
from ..state.context import RunContext
from ..state.metrics import no_counts, with_results
from ..state.outcome import Outcome
from ..tools.resources import resources, scope_of
from .clock import clocked
from .dispatch import unanswered_calls
from .equipment import Equipment
from .node import node
from .once import journal_of
from .reply import text_of
from .tool_config import tool_config

NOT_RUN = "Not run: the task was ended by another call of the same message."
NOT_RUN_AFTER_STOP = "Not run: a person stopped the task."


def terminate_node(equipment: Equipment) -> RunnableCallable:
    """The node that writes how the task ended and releases what the run holds."""

    async def terminate(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        history, progress = state["messages"], state["progress"]
        ending = progress["ending"] or _said_by_agent(history[-1])
        task, workspace = history[progress["task"]].id or "", equipment.workspace_of(runtime)
        scope = scope_of(tool_config(config, task=task, workspace=workspace, path=[]))
        not_run = NOT_RUN_AFTER_STOP if ending["status"] == "cancelled" else NOT_RUN
        await resources().close(scope)
        if journal := journal_of(config):
            await journal.close(*scope)
        counts = with_results(progress.get("counts") or no_counts(), history)
        return {
            "messages": [
                ToolMessage(not_run, tool_call_id=call["id"] or "", name=call["name"], status="error")
                for call in unanswered_calls(history)
            ],
            "progress": {**progress, **clocked(progress, config), "counts": counts, "ending": ending},
            "status": ending["status"],
            "outcome": Outcome.model_validate({name: value for name, value in ending.items() if name != "status"}),
        }

    return node(terminate)


def _said_by_agent(last: AnyMessage) -> Ending:
    if isinstance(last, ToolMessage):
        said = last.artifact if isinstance(last.artifact, dict) else {}
        outputs = said.get("outputs") or {}
        if said.get("status") == "rejected":
            reason = said.get("reason") or last.name or "reject"
            return Ending(status="rejected", success=False, reason=reason, answer="", outputs=outputs)
        success = said.get("status", "success") == "success"
        answer = said.get("answer") or ("" if said else text_of(last.content))
        reason = last.name or "terminate"
        return Ending(status="finished", success=success, reason=reason, answer=answer, outputs=outputs)
    answer = text_of(last.content) if isinstance(last, AIMessage) else ""
    return Ending(status="finished", success=True, reason="answer", answer=answer)
