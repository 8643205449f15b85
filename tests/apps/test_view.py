from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

from clew.apps.view import question_event, thread_config, view_thread

TASK = {"messages": [("user", "count the files")]}


@pytest.fixture
def saver():
    return InMemorySaver()


async def run(graph, input=TASK):
    return await graph.ainvoke(input, thread_config("t"), durability="sync")


async def test_a_thread_without_checkpoints_is_idle(saver):
    view = await view_thread(saver, "t")
    assert (view.status, view.unfinished, view.checkpoint) == ("idle", False, "")


async def test_an_ended_task_has_its_outcome_steps_and_usage(tiny, calls, saver):
    await run(tiny([calls(("slow", {"seconds": 0})), AIMessage("42 files")]).compile(saver))
    view = await view_thread(saver, "t")
    assert (view.status, view.reason, view.answer, view.success) == ("finished", "answer", "42 files", True)
    assert (view.steps, view.usage.llm_calls, view.unfinished) == (2, 2, False)


async def test_a_question_is_open_until_its_task_is_done(tiny, calls, saver):
    both = calls(("ask", {"question": "Colour?"}), ("ask", {"question": "Size?"}))
    graph = tiny([both, AIMessage("done")]).compile(saver)
    await run(graph)
    view = await view_thread(saver, "t")
    assert (view.status, view.reason) == ("waiting", "input")
    ids = {question.question: question.id for question in view.questions}
    assert sorted(ids) == ["Colour?", "Size?"]
    await run(graph, Command(resume={ids["Colour?"]: "red"}))
    assert [question.question for question in (await view_thread(saver, "t")).questions] == ["Size?"]
    await run(graph, Command(resume={ids["Size?"]: "large"}))
    assert (await view_thread(saver, "t")).questions == []


async def test_a_task_that_raised_is_an_error_with_its_text(tiny, calls, saver):
    graph = tiny([calls(("fail", {})), AIMessage("done")]).compile(saver)
    with pytest.raises(RuntimeError):
        await run(graph)
    view = await view_thread(saver, "t")
    assert (view.status, view.success) == ("error", False)
    assert "on fire" in view.reason


@pytest.mark.parametrize("node", ["think", "act", "check_stuck", "terminate"])
async def test_a_thread_that_stopped_before_any_node_is_interrupted(tiny, calls, saver, node):
    graph = tiny([calls(("slow", {"seconds": 0})), AIMessage("done")]).compile(saver, interrupt_before=[node])
    await run(graph)
    view = await view_thread(saver, "t")
    assert (view.status, view.unfinished) == ("interrupted", True)


async def test_a_graph_without_a_status_of_its_own_finishes(saver):
    class Count(TypedDict):
        count: int

    async def add(state: Count):
        return {"count": state["count"] + 1}

    await (
        StateGraph(Count).add_node(add).add_edge(START, "add").compile(saver).ainvoke({"count": 1}, thread_config("t"))
    )
    assert (await view_thread(saver, "t")).status == "finished"


async def test_an_interrupt_of_another_shape_asks_for_input(saver):
    class Count(TypedDict):
        count: int

    async def ask(state: Count):
        return {"count": interrupt("How many?")}

    await (
        StateGraph(Count).add_node(ask).add_edge(START, "ask").compile(saver).ainvoke({"count": 1}, thread_config("t"))
    )
    (question,) = (await view_thread(saver, "t")).questions
    assert (question.kind, question.question) == ("input", "How many?")


def test_what_an_interrupt_carries_beside_a_question_is_left_out():
    value = {"kind": "confirm", "question": "Run it?", "options": ["yes", "no"], "extra": 1}
    event = question_event({"id": "a", "value": value})
    assert (event.kind, event.options, event.data) == ("confirm", ["yes", "no"], {})
