"""A person decides about tool calls before they are made."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools
from clew.tools.traits import Traits

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "do it")]}


def call(tool_name, identifier=None, **args):
    return {"name": tool_name, "args": args, **({"id": identifier} if identifier else {})}


def calling(*calls):
    return {"tool_calls": list(calls)}


class Desk:
    """Tools of each risk that write down what they are called with."""

    def __init__(self):
        self.log = []

        @tool
        def look(at: str) -> str:
            """Look."""
            self.log.append(("look", at))
            return f"seen {at}"

        @tool
        def pay(amount: int, to: str = "shop") -> str:
            """Pay."""
            self.log.append(("pay", amount, to))
            return f"paid {amount}"

        @tool
        def foreign(x: int) -> str:
            """Nobody knows."""
            self.log.append(("foreign", x))
            return "done"

        look.metadata = Traits(risk="low").metadata()
        pay.metadata = Traits(risk="high", parallel=False).metadata()
        self.tools = [look, pay, foreign, *build_tools(["terminate", "ask_human"])]


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "threads.db") as saver:
        yield saver


@pytest.fixture
def agent(desk, saver, tmp_path):
    def make(*replies, confirm="risky", checkpointer=saver):
        return create_agent(
            AgentSpec(name="clerk", tools=[each.name for each in desk.tools]),
            model=ScriptedModel(replies=[*replies, "Done."]),
            tools=desk.tools,
            checkpointer=checkpointer,
            settings=Settings(home=tmp_path),
            confirm=confirm,
        )

    return make


async def run(graph, input=TASK, **context):
    return await graph.ainvoke(input, THREAD, durability="sync", context=RunContext(**context))


async def answer(graph, value):
    return await run(graph, Command(resume=value))


def question(state):
    (pending,) = state["__interrupt__"]
    return pending.value


def results(state):
    return [(m.tool_call_id, m.status, m.text) for m in state["messages"] if isinstance(m, ToolMessage)]


async def visited(graph):
    return [s.next[0] for s in reversed([s async for s in graph.aget_state_history(THREAD)]) if s.next][1:]


async def test_an_approved_call_runs_as_the_model_wrote_it(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=5)))
    asked = question(await run(graph))
    assert (asked["kind"], asked["path"]) == ("confirm", ["clerk"])
    assert asked["options"] == ["approve", "approve_kind", "edit", "reject"]
    (pending,) = asked["data"]["calls"]
    assert pending == {
        "id": "c1",
        "name": "pay",
        "args": {"amount": 5},
        "risk": "high",
        "kind": "pay (high risk)",
        "preview": {"language": "", "text": "", "arguments": []},
    }
    assert desk.log == []
    state = await answer(graph, "approve")
    assert desk.log == [("pay", 5, "shop")]
    assert state["status"] == "finished"


async def test_a_rejected_call_is_answered_with_the_reason_and_the_agent_goes_on(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=5)), calling(call("look", "c2", at="menu")))
    await run(graph)
    state = await answer(graph, {"reject": "too dear"})
    assert desk.log == [("look", "menu")]
    (_, status, text), _ = results(state)
    assert (status, "too dear" in text, text.startswith("Error: ")) == ("error", True, True)
    assert state["status"] == "finished"


async def test_an_edited_call_replaces_the_models_in_the_history(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=500), call("look", "c2", at="menu")))
    await run(graph)
    state = await answer(graph, {"edit": {"amount": 5, "to": "baker"}})
    assert ("pay", 5, "baker") in desk.log
    (reply,) = [m for m in state["messages"] if isinstance(m, AIMessage) and m.tool_calls]
    assert [each["args"] for each in reply.tool_calls] == [{"amount": 5, "to": "baker"}, {"at": "menu"}]
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "tool", "ai"]
