"""What follows a call: the next step at once where nothing is to be done first, else check_stuck."""

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from clew.checkpoints.inbox import Inbox
from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, create_agent
from clew.models.scripted import ScriptedModel
from clew.nodes import progress
from clew.state.settings import Settings
from clew.tools.run_services import run_services

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "look around")]}
STEP = ["think", "act"]
CHECKED = ["think", "act", "check_stuck"]
END = ["think", "terminate"]


@tool
async def look(place: str) -> str:
    """Look."""
    if place == "abroad":
        raise ValueError("too far")
    return f"nothing at {place}"


@tool
async def listen(place: str) -> str:
    """Listen."""
    return f"silence at {place}"


listen.metadata = {"parallel": False}


@tool
async def wonder(config: RunnableConfig) -> str:
    """Ask the model."""
    return await run_services(config).ask([HumanMessage("why?")])


def calls(name, *places):
    return {"tool_calls": [{"name": name, "args": {"place": place}} for place in places]}


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "clew.db") as opened:
        yield opened


@pytest.fixture
def visited(saver, tmp_path):
    """The nodes that a run of these replies takes, one for each superstep."""

    async def run(*replies, tools=(look, listen), **fields):
        spec = AgentSpec(name="tester", tools=[each.name for each in tools], **fields)
        model = ScriptedModel(replies=[*replies, "done"])
        settings = Settings(home=tmp_path)
        agent = create_agent(spec, model=model, tools=tools, checkpointer=saver, settings=settings)
        await agent.ainvoke(TASK, THREAD, context=RunContext(headless=True), durability="sync")
        states = [state async for state in agent.aget_state_history(THREAD)]
        return [state.next[0] for state in reversed(states) if state.next][1:]

    return run


async def test_a_step_of_one_call_is_two_supersteps(visited):
    assert await visited(calls("look", "home"), calls("look", "work")) == [*STEP * 2, *END]


async def test_calls_side_by_side_meet_before_the_next_step(visited):
    assert await visited(calls("look", "home", "work"), calls("look", "town")) == [*CHECKED, *STEP, *END]


async def test_calls_that_take_turns_go_on_after_the_last(visited):
    assert await visited(calls("listen", "home", "work")) == [*CHECKED, "act", *END]


async def test_a_loop_is_seen_at_the_call_that_closes_it(visited):
    same = [calls("look", "home")] * 4
    assert await visited(*same, calls("look", "work")) == [*STEP * 3, *CHECKED, *STEP, *END]


async def test_a_third_failure_is_seen_too(visited):
    assert await visited(*[calls("look", "abroad")] * 3) == [*STEP * 2, *CHECKED, *END]


async def test_a_limit_is_met_behind_the_call(visited):
    assert await visited(calls("look", "home"), max_steps=1) == [*CHECKED, "gate", "terminate"]


async def test_a_call_that_ends_the_task_goes_by_the_check(visited):
    terminating = calls("look", "home")
    assert await visited(terminating, terminating_tools=("look",)) == [*CHECKED, "terminate"]


async def test_words_that_came_during_a_call_are_read_before_the_next_step(visited, saver):
    @tool
    async def tell() -> str:
        """Tell."""
        await Inbox(saver).send("t", "say", "also there")
        return "told"

    assert await visited({"tool_calls": [{"name": "tell", "args": {}}]}, tools=(tell,)) == [*CHECKED, "gate", *END]


async def test_what_a_tool_used_of_the_model_is_counted_before_the_next_step(visited):
    assert await visited({"tool_calls": [{"name": "wonder", "args": {}}]}, "because", tools=(wonder,)) == [
        *CHECKED,
        *END,
    ]


async def test_the_time_of_a_long_call_is_counted_before_the_next_step(visited, monkeypatch):
    monkeypatch.setattr(progress, "LONG_ACT", 0.0)
    assert await visited(calls("look", "home")) == [*CHECKED, *END]
