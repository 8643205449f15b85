"""observe_mcp: the tools of MCP servers are brought up to date before the model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph._internal._runnable import RunnableCallable
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ..prompts.load import load_prompt
from ..state.agent import AgentState, Ending, Progress
from ..state.context import RunContext, can_ask, run_context
from ..state.question import Question
from .equipment import Equipment, agent_path
from .node import node
from .progress import current_progress

if TYPE_CHECKING:  # few agents have servers
    from ..tools.mcp.pins import Changed
    from ..tools.mcp.toolset import Look

ACCEPT, REJECT = "accept", "reject"


def observe_mcp_node(equipment: Equipment) -> RunnableCallable:
    """The node that lists what servers say has changed, and every few steps all of them.

    A tool whose definition has changed is asked about: the node runs again with the answer, and lists nothing anew
    then. An agent that is nothing without its servers waits for the first of them to come back, and ends if none does.
    """

    async def observe_mcp(state: AgentState, config: RunnableConfig, runtime: Runtime[RunContext]) -> dict[str, Any]:
        toolset = equipment.mcp
        if toolset is None:
            return {}
        progress = current_progress(state, run_context(runtime))
        own = equipment.call_config(config, state["messages"][progress["task"]], runtime)
        steps = progress["steps"]
        look = await toolset.look(own, always=steps > 0 and steps % equipment.settings.mcp.refresh_steps == 0)
        if look.offer.changed and can_ask(runtime):
            path = [*agent_path(config), equipment.spec.name]
            accept = _accepts(interrupt(_question(look.offer.changed, path)))
            await toolset.decide(look.offer.changed, accept=accept)
        if equipment.spec.requires_mcp and look.all_gone:
            look = await toolset.wait(own, 0 if look.hopeless else equipment.settings.mcp.patience)
            if look.all_gone:
                return {"progress": _ended(progress, look), "status": "running", "outcome": None}
        earlier, notes = state.get("context") or [], _notes(look)
        return {"context": [*earlier, HumanMessage(notes)]} if notes else {"context": earlier}

    return node(observe_mcp)


def _question(changes: Sequence[Changed], path: list[str]) -> Question:
    names = ", ".join(f"{change.tool} of {change.server}" for change in changes)
    return Question(
        kind="tool_changed",
        question=f"These MCP tools are not what they were when they were accepted: {names}. Use them as they are now?",
        options=[REJECT, ACCEPT],
        data={"tools": [change._asdict() for change in changes]},
        path=path,
    )


def _accepts(answer: Any) -> bool:
    said = answer.get("answer") if isinstance(answer, dict) else answer
    return said is True or (isinstance(said, str) and said.strip().lower() in (ACCEPT, "yes", "y"))


def _ended(progress: Progress, look: Look) -> Progress:
    reasons = "; ".join(f"{name}: {problem}" for name, problem in look.problems.items())
    reason = f"no MCP server can be used any more: {reasons}"
    return {**progress, "ending": Ending(status="error", success=False, reason=reason, answer="")}


def _notes(look: Look) -> str:
    lines = [f"- {name} cannot be used now: {problem}" for name, problem in look.problems.items()]
    lines += [f"- {change.tool} of {change.server} is withheld: a person has to look at it" for change in look.withheld]
    return load_prompt("mcp_servers", notes="\n".join(lines)) if lines else ""
