"""A small agent graph with the state and the node names of the real one, and no model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send, interrupt

from clew.state.agent import AgentState, ToolTask
from clew.state.outcome import Outcome, Usage

Think = Callable[[AgentState], dict[str, Any]]
Builder = Callable[..., StateGraph[Any, Any, Any, Any]]


def reply(state: AgentState, message: AIMessage) -> dict[str, Any]:
    """What `think` writes: the message, one step more, and what it used."""
    progress = dict(state.get("progress") or {"steps": 0, "usage": Usage().model_dump()})
    used = Usage.model_validate(progress["usage"]) + Usage(llm_calls=1, input_tokens=10, output_tokens=5)
    progress |= {"steps": progress["steps"] + 1, "usage": used.model_dump()}
    return {"messages": [message], "progress": progress, "status": "running", "outcome": None}


def build_graph(replies: Sequence[AIMessage], *, nudge: str = "", delay: float = 0.0) -> StateGraph[Any, Any, Any, Any]:
    """An agent graph that gives the replies in order; `ask` asks a person, `slow` sleeps, `fail` raises."""

    async def think(state: AgentState) -> dict[str, Any]:
        await asyncio.sleep(delay)
        said = sum(isinstance(message, AIMessage) for message in state["messages"])
        return reply(state, replies[said].model_copy(deep=True))

    async def act(task: ToolTask) -> dict[str, list[AnyMessage]]:
        call = task["call"]
        text = "done"
        if call["name"] == "ask":
            text = interrupt({"kind": "input", "question": call["args"]["question"], "path": ["tiny"]})
        elif call["name"] == "slow":
            await asyncio.sleep(call["args"]["seconds"])
        elif call["name"] == "fail":
            raise RuntimeError("the disk is on fire")
        return {"messages": [ToolMessage(text, tool_call_id=call["id"], name=call["name"])]}

    async def check_stuck(state: AgentState) -> dict[str, Any]:
        return {"progress": {**state["progress"], "nudge": nudge}}

    async def terminate(state: AgentState) -> dict[str, Any]:
        answer = state["messages"][-1].text
        return {"status": "finished", "outcome": Outcome(success=True, reason="answer", answer=answer)}

    async def after_think(state: AgentState) -> Any:
        calls = state["messages"][-1].tool_calls
        return [Send("act", {"call": call}) for call in calls] or "terminate"

    graph = StateGraph(AgentState)
    for node in (think, act, check_stuck, terminate):
        graph.add_node(node)
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", after_think, ["act", "terminate"])
    graph.add_edge("act", "check_stuck")
    graph.add_edge("check_stuck", "think")
    graph.add_edge("terminate", END)
    return graph


def call_message(*calls: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    """A reply that calls tools; the ids are `NAME-PLACE`."""
    listed = [{"name": name, "args": args, "id": f"{name}-{place}"} for place, (name, args) in enumerate(calls)]
    return AIMessage(text, tool_calls=listed)


@pytest.fixture
def tiny() -> Builder:
    return build_graph


@pytest.fixture
def calls() -> Callable[..., AIMessage]:
    return call_message
