"""An agent that repeats itself though it was told so: what a person may decide, and what is no loop."""

import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from clew.graphs import AgentSpec, RunContext, create_agent
from clew.models.scripted import ScriptedModel
from clew.nodes.loop import detect_loop
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "look around")]}
LOOP = 8
"""Replies of a loop until a person is asked: four for the advice, and four more."""


@tool
def look(n: int) -> str:
    """Look."""
    return "nothing"


@pytest.fixture
def stuck(tmp_path):
    """A graph whose agent says the replies after a loop, and the requests that its model was sent."""

    def make(*after, tools=(look,)):
        requests = []

        def reply(messages, offered):
            requests.append([message.text for message in messages])
            looking = {"tool_calls": [{"name": "look", "args": {"n": 1}}]}
            return looking if len(requests) <= LOOP else after[len(requests) - LOOP - 1]

        spec = AgentSpec(name="tester", tools=[each.name for each in tools])
        settings = Settings(home=tmp_path)
        model = ScriptedModel(reply=reply)
        graph = create_agent(spec, model=model, tools=tools, checkpointer=InMemorySaver(), settings=settings)
        return graph, requests

    return make


async def test_a_person_is_asked_after_the_advice_and_may_stop(stuck):
    graph, requests = stuck()
    (asked,) = (await graph.ainvoke(TASK, THREAD, durability="sync"))["__interrupt__"]
    assert (asked.value["kind"], asked.value["data"]) == ("stuck", {"loop": "repeated_action"})
    assert asked.value["options"] == ["retry", "drop", "continue", "stop"]
    assert len(requests) == LOOP
    state = await graph.ainvoke(Command(resume="stop"), THREAD)
    assert (state["status"], state["outcome"].reason) == ("stuck", "repeated_action")


async def test_with_nobody_there_the_task_ends(stuck):
    graph, _ = stuck()
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(headless=True))
    assert state["status"] == "stuck"


async def test_a_retry_keeps_the_history_and_the_advice(stuck):
    graph, requests = stuck("done")
    await graph.ainvoke(TASK, THREAD, durability="sync")
    state = await graph.ainvoke(Command(resume="retry"), THREAD)
    assert (state["status"], len(state["messages"])) == ("finished", 1 + 2 * LOOP + 1)
    assert "You are repeating yourself" in requests[-1][-1]


async def test_words_of_the_person_go_to_the_agent(stuck):
    graph, requests = stuck("done")
    await graph.ainvoke(TASK, THREAD, durability="sync")
    await graph.ainvoke(Command(resume="look in the cellar"), THREAD)
    assert "look in the cellar" in requests[-1]


async def test_a_dropped_loop_leaves_the_history_and_no_request_carries_it(stuck):
    graph, requests = stuck("done")
    await graph.ainvoke(TASK, THREAD, durability="sync")
    state = await graph.ainvoke(Command(resume="drop"), THREAD, durability="sync")
    # The first four were before the advice: the loop that is dropped is the one after it.
    assert [message.type for message in state["messages"]] == ["human", *["ai", "tool"] * 4, "ai"]
    assert requests[-1].count("nothing") == 4
    assert (state["status"], state["progress"]["task"]) == ("finished", 0)
    kept = (await graph.aget_state(THREAD)).values["messages"]
    assert [message.id for message in kept] == [message.id for message in state["messages"]]


async def test_what_is_no_loop_goes_on_without_a_question(stuck):
    looking = {"tool_calls": [{"name": "look", "args": {"n": 1}}]}
    graph, _ = stuck(*[looking] * 9, "done")
    await graph.ainvoke(TASK, THREAD, durability="sync")
    state = await graph.ainvoke(Command(resume="continue"), THREAD)
    assert (state["status"], state["progress"]["steps"]) == ("finished", LOOP + 10)


def polled(n, running=True, **args):
    call = {"name": "bash", "args": {"command": "", **args}, "id": f"poll{n}", "type": "tool_call"}
    artifact = {"exit_code": None if running else 0, "running": running}
    text = "[it still runs: send `input` or `keys`, or call without command to wait for more]"
    return [AIMessage("", tool_calls=[call]), ToolMessage(text, tool_call_id=call["id"], artifact=artifact)]


def test_polls_of_a_program_that_runs_are_no_loop():
    history = [HumanMessage("build it"), *[message for n in range(12) for message in polled(n)]]
    assert detect_loop(history) is None


@pytest.mark.parametrize("args", [{"running": False}, {"input": "y"}, {"keys": "Enter"}])
def test_the_same_words_to_a_program_and_polls_of_one_that_has_ended_are_a_loop(args):
    history = [HumanMessage("build it"), *[message for n in range(4) for message in polled(n, **args)]]
    assert detect_loop(history).kind == "repeated_action"


@pytest.mark.skipif(sys.platform != "linux", reason="the shell's sandbox")
async def test_a_shell_that_waits_for_a_long_program_is_not_stopped(tmp_path):
    wait = {"tool_calls": [{"name": "bash", "args": {"timeout": 0.05}}]}
    begin = {"tool_calls": [{"name": "bash", "args": {"command": "cat", "interactive": True, "timeout": 0.3}}]}
    end = {"tool_calls": [{"name": "bash", "args": {"keys": "C-d"}}]}
    settings = Settings(home=tmp_path)
    graph = create_agent(
        AgentSpec(name="tester", tools=["bash"]),
        model=ScriptedModel(replies=[begin, *[wait] * 9, end, "done"]),
        tools=build_tools(["bash"], settings=settings),
        settings=settings,
    )
    state = await graph.ainvoke(TASK, THREAD)
    assert (state["status"], state["progress"]["nudge"]) == ("finished", "")
