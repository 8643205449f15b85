"""A tool call that has effects runs once, whatever crashes in between."""

import asyncio

import pytest
from langchain_core.tools import tool
from langgraph.types import Command, interrupt

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "do it")]}


class Crash(BaseException):
    """Ends the run as a kill would: nothing after it is written."""


def agent(saver, *tools, replies):
    return create_agent(
        AgentSpec(name="tester", tools=[each.name for each in tools]),
        model=ScriptedModel(replies=replies),
        tools=tools,
        checkpointer=saver,
        settings=Settings(),
    )


def calling(name):
    return [{"tool_calls": [{"name": name, "args": {}}]}, "Done."]


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "x.db") as saver:
        yield saver


async def crash(graph):
    with pytest.raises(Crash):
        await graph.ainvoke(TASK, THREAD, durability="sync")


async def test_a_call_cut_off_by_a_crash_is_not_run_again_and_the_model_is_warned(saver):
    effects = []

    @tool
    async def pay() -> str:
        """Pay."""
        effects.append("paid")
        raise Crash

    graph = agent(saver, pay, replies=calling("pay"))
    await crash(graph)
    state = await graph.ainvoke(None, THREAD, durability="sync")
    assert effects == ["paid"]
    assert "may have taken effect" in state["messages"][2].text
    assert state["status"] == "finished"


async def test_an_idempotent_call_runs_again(saver):
    looks = []

    @tool
    async def look() -> str:
        """Look."""
        looks.append("looked")
        if len(looks) == 1:
            raise Crash
        return "seen"

    look.metadata = {"idempotent": True}
    graph = agent(saver, look, replies=calling("look"))
    await crash(graph)
    state = await graph.ainvoke(None, THREAD, durability="sync")
    assert (len(looks), state["messages"][2].text) == (2, "seen")


async def test_a_call_that_was_done_when_its_sibling_crashed_keeps_its_result(saver):
    effects = []
    paid = asyncio.Event()

    @tool
    async def pay() -> str:
        """Pay."""
        effects.append("paid")
        paid.set()
        return "receipt"

    @tool
    async def die() -> str:
        """Die."""
        await paid.wait()
        if len(effects) == 1 and not effects.count("died"):
            effects.append("died")
            raise Crash
        return "alive"

    both = [{"tool_calls": [{"name": "pay", "args": {}}, {"name": "die", "args": {}}]}, "Done."]
    graph = agent(saver, pay, die, replies=both)
    await crash(graph)
    state = await graph.ainvoke(None, THREAD, durability="sync")
    assert effects == ["paid", "died"]
    assert state["messages"][2].text == "receipt"


async def test_a_call_that_asks_a_person_enters_again_with_the_answer(saver):
    entered = []

    @tool
    async def sign() -> str:
        """Sign."""
        entered.append("entered")
        return f"signed by {interrupt('Who?')}"

    graph = agent(saver, sign, replies=calling("sign"))
    await graph.ainvoke(TASK, THREAD, durability="sync")
    state = await graph.ainvoke(Command(resume="Ann"), THREAD, durability="sync")
    assert (len(entered), state["messages"][2].text) == (2, "signed by Ann")


async def test_an_ended_task_leaves_nothing_in_the_journal(saver):
    @tool
    async def pay() -> str:
        """Pay."""
        return "receipt"

    await agent(saver, pay, replies=calling("pay")).ainvoke(TASK, THREAD, durability="sync")
    assert await saver.database.fetch("SELECT call FROM journal") == []
