from __future__ import annotations

import asyncio

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command

from clew.apps.drive import Stop, drive
from clew.apps.view import view_thread
from clew.state.agent import AgentState
from clew.state.stream import EndEvent, QuestionEvent, StartEvent, ToolEndEvent, ToolStartEvent

TASK = {"messages": [("user", "count the files")]}


async def collect(graph, input=TASK, **arguments):
    return [event async for event in drive(graph, "t", input, **arguments)]


def names(events):
    return [event.event for event in events]


@pytest.fixture
def saver():
    return InMemorySaver()


async def test_a_task_tells_start_every_reply_every_tool_call_and_end(tiny, calls, saver):
    graph = tiny([calls(("slow", {"seconds": 0}), text="let me look"), AIMessage("42 files")]).compile(saver)
    events = await collect(graph)
    assert names(events) == ["start", "think", "tool_start", "tool_end", "think", "end"]
    start, think, tool_start, tool_end, _, end = events
    assert start.resumed is False
    assert (think.step, think.text, think.tool_calls[0].name) == (1, "let me look", "slow")
    assert (tool_start.id, tool_start.args) == ("slow-0", {"seconds": 0})
    assert (tool_end.id, tool_end.name, tool_end.status, tool_end.text) == ("slow-0", "slow", "success", "done")
    assert (end.status, end.reason, end.answer, end.steps) == ("finished", "answer", "42 files", 2)
    assert (end.usage.llm_calls, end.usage.input_tokens, end.usage.output_tokens) == (2, 20, 10)


async def test_every_checkpoint_of_a_run_carries_its_run_id(tiny, saver):
    events = await collect(tiny([AIMessage("done")]).compile(saver))
    runs = {saved.metadata["run_id"] for saved in saver.list({"configurable": {"thread_id": "t"}})}
    assert runs == {events[0].run}


async def test_a_question_is_told_while_its_siblings_still_run(tiny, calls, saver):
    both = calls(("ask", {"question": "Which one?"}), ("slow", {"seconds": 0.2}))
    events = await collect(tiny([both, AIMessage("done")]).compile(saver))
    assert names(events) == ["start", "think", "tool_start", "tool_start", "question", "tool_end", "end"]
    question, end = events[4], events[-1]
    assert isinstance(question, QuestionEvent)
    assert (question.kind, question.question, question.path) == ("input", "Which one?", ["tiny"])
    assert (end.status, end.reason) == ("waiting", "input")


async def test_a_resume_does_not_tell_again_what_was_done(tiny, calls, saver):
    both = calls(("ask", {"question": "Which one?"}), ("slow", {"seconds": 0}))
    graph = tiny([both, AIMessage("done")]).compile(saver)
    (question,) = [event for event in await collect(graph) if isinstance(event, QuestionEvent)]
    events = await collect(graph, Command(resume={question.id: "the left one"}))
    assert isinstance(events[0], StartEvent)
    assert events[0].resumed is True
    assert [event.id for event in events if isinstance(event, ToolStartEvent)] == ["ask-0"]
    assert [event.text for event in events if isinstance(event, ToolEndEvent)] == ["the left one"]
    assert events[-1].status == "finished"


async def test_the_events_of_a_child_graph_name_the_node_around_it(tiny, calls, saver):
    child = tiny([calls(("ask", {"question": "Which one?"})), AIMessage("done")]).compile()

    async def delegate(state: AgentState):
        await child.ainvoke({"messages": state["messages"]})

    graph = StateGraph(AgentState).add_node("delegate", delegate).add_edge(START, "delegate").compile(saver)
    events = await collect(graph)
    assert names(events) == ["start", "think", "tool_start", "question", "end"]
    assert events[1].path == ["delegate"]
    events = await collect(graph, Command(resume={events[3].id: "left"}))
    assert names(events) == ["start", "tool_start", "tool_end", "think", "end"]


async def test_a_nudge_is_told(tiny, calls, saver):
    graph = tiny([calls(("slow", {"seconds": 0})), AIMessage("done")], nudge="try another way").compile(saver)
    assert "try another way" in [event.text for event in await collect(graph) if event.event == "nudge"]


async def test_an_error_of_the_graph_ends_the_run_and_then_reaches_the_driver(tiny, calls, saver):
    graph = tiny([calls(("fail", {})), AIMessage("done")]).compile(saver)
    events = []

    async def listen():
        async for event in drive(graph, "t", TASK):
            events.append(event)

    with pytest.raises(RuntimeError, match="on fire"):
        await listen()
    end = events[-1]
    assert isinstance(end, EndEvent)
    assert (end.status, end.reason, end.success) == ("error", "RuntimeError: the disk is on fire", False)
    assert (await view_thread(saver, "t")).status == "error"


async def test_a_stop_lets_the_step_in_flight_finish_and_leaves_the_thread_paused(tiny, calls, saver):
    graph = tiny([calls(("slow", {"seconds": 0.1})), AIMessage("done")]).compile(saver)
    stop, events = Stop(), []
    async for event in drive(graph, "t", TASK, stop=stop):
        events.append(event)
        if event.event == "tool_start":
            stop.request()
    assert names(events) == ["start", "think", "tool_start", "tool_end", "end"]
    assert (events[-1].status, events[-1].reason) == ("waiting", "paused")
    assert names(await collect(graph, None)) == ["start", "think", "end"]


@pytest.mark.parametrize("stop_twice", [True, False])
async def test_a_step_that_takes_too_long_is_cancelled_and_runs_again_on_resume(tiny, calls, saver, stop_twice):
    graph = tiny([calls(("slow", {"seconds": 3600})), AIMessage("done")]).compile(saver)
    stop = Stop(grace=3600 if stop_twice else 0.01)
    events = []
    async for event in drive(graph, "t", TASK, stop=stop):
        events.append(event)
        if event.event == "tool_start":
            stop.request()
            if stop_twice:
                stop.request()
    assert names(events) == ["start", "think", "tool_start", "end"]
    assert (events[-1].status, events[-1].reason) == ("waiting", "paused")
    assert (await view_thread(saver, "t")).unfinished


async def test_closing_the_iterator_cancels_the_run(tiny, calls, saver):
    graph = tiny([calls(("slow", {"seconds": 3600})), AIMessage("done")]).compile(saver)
    running = drive(graph, "t", TASK)
    async for event in running:
        if event.event == "tool_start":
            break
    await running.aclose()
    await asyncio.sleep(0)
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert others == []


async def test_a_new_message_on_an_ended_thread_is_unfinished_until_it_has_run(tiny, calls, saver):
    graph = tiny([AIMessage("one"), calls(("slow", {"seconds": 3600})), AIMessage("two")]).compile(saver)
    await collect(graph)
    assert (await view_thread(saver, "t")).status == "finished"
    running = drive(graph, "t", TASK)
    async for event in running:
        if event.event == "tool_start":
            break
    await running.aclose()
    assert (await view_thread(saver, "t")).status == "interrupted"
