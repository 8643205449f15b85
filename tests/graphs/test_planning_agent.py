"""The planning agent: one agent that works by a plan of its own (seed planning-system.md)."""

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from clew.checkpoints.plans import PlanLibrary
from clew.graphs import AGENTS, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.board_plans import BoardPlans
from clew.tools.catalog import build_tools
from clew.tools.planning import Planning


def call(tool_name, **args):
    return {"tool_calls": [{"name": tool_name, "args": args}]}


@tool
def look(where: str) -> str:
    """Look."""
    return f"{where}: nothing"


CREATE = call("planning", command="create", title="Search", steps=["look left", "look right"])
MARK_FIRST = call("planning", command="mark_step", step_index=0, step_status="completed", step_notes="nothing there")
BLOCK_SECOND = call("planning", command="mark_step", step_index=1, step_status="blocked", step_notes="too dark")
END = call("terminate", status="success", answer="Found nothing.")


@pytest.fixture
def run(tmp_path):
    async def run(*replies, store=None):
        replies, requests = list(replies), []

        def reply(messages, tools):
            requests.append([message.text for message in messages])
            return replies.pop(0)

        graph = create_agent(
            "planning",
            model=ScriptedModel(reply=reply),
            tools=[Planning(plans=BoardPlans()), look, *build_tools(["terminate"])],
            settings=Settings(home=tmp_path),
            checkpointer=InMemorySaver(),
            store=store,
        )
        state = await graph.ainvoke({"messages": [("user", "search")]}, {"configurable": {"thread_id": "t"}})
        return state, requests

    return run


async def test_without_a_plan_the_agent_is_told_to_make_one(run):
    _, requests = await run(END)
    assert any("There is no plan yet" in text for text in requests[0])


async def test_the_live_plan_is_in_every_request_with_the_current_step_marked(run):
    _, requests = await run(CREATE, call("look", where="left"), MARK_FIRST, END)
    live = [next((text for text in request if text.startswith("The plan as it stands")), "") for request in requests]
    assert live[0] == ""
    assert "0. [→] look left" in live[1]
    assert "1. [ ] look right" in live[2]
    assert "0. [✓] look left" in live[3]
    assert "Work on this step: look right" in live[3]


async def test_the_plan_is_sent_and_not_stored_as_a_message(run):
    state, _ = await run(CREATE, END)
    assert not any("The plan as it stands" in message.text for message in state["messages"])


async def test_status_notes_and_tool_calls_are_kept_with_each_step(run):
    state, _ = await run(CREATE, call("look", where="left"), MARK_FIRST, call("look", where="right"), BLOCK_SECOND, END)
    first, second = state["plan"].steps
    assert (first.status, first.notes, [each.tool for each in first.executions]) == (
        "completed",
        "nothing there",
        ["look"],
    )
    assert (second.status, second.notes, [each.status for each in second.executions]) == (
        "blocked",
        "too dark",
        ["completed"],
    )
    assert state["plan"].progress() == "1/2 steps completed (50.0%)"


async def test_an_update_keeps_what_is_completed(run):
    update = call("planning", command="update", steps=["look left", "look up", "look right"])
    state, _ = await run(CREATE, MARK_FIRST, update, END)
    assert [(step.text, step.status) for step in state["plan"].steps] == [
        ("look left", "completed"),
        ("look up", "in_progress"),
        ("look right", "in_progress"),
    ]


async def test_the_plan_is_published_in_the_library(run):
    store = InMemoryStore()
    state, _ = await run(CREATE, MARK_FIRST, END, store=store)
    entry = await PlanLibrary(store).get(state["plan"].id)
    assert (entry.thread, entry.plan.count("completed")) == ("t", 1)


def test_it_has_manus_s_tools_and_planning_and_twenty_steps():
    assert AGENTS["planning"].max_steps == 20
    assert set(AGENTS["planning"].tools) == {*AGENTS["manus"].tools, "planning"}
