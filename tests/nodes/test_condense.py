"""What is sent of a long history, while the thread keeps all of it."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import ValidationError

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, continue_task, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.condensation import MaskImages, MaskResults, Recent, Summarize
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

TASK = {"messages": [("user", "read all pages")]}
THREAD = {"configurable": {"thread_id": "t"}}
SUMMARIZES = "You keep the memory"


@tool
def page(number: int) -> str:
    """Read a page."""
    return f"This is page {number}. " + "Many words stand here. " * 20


@tool(response_format="content_and_artifact")
def look(number: int):
    """Take a screenshot."""
    image = {"type": "image", "base64": "aGVsbG8=", "mime_type": "image/png"}
    return [{"type": "text", "text": f"screen {number}"}, image], {}


class Reader:
    """A model that calls a tool `steps` times and then ends; it keeps what it is sent."""

    def __init__(self, steps, name="page", summary="Pages up to {count} are read."):
        self.steps, self.name, self.summary, self.requests, self.summaries = steps, name, summary, [], []

    @property
    def model(self):
        return ScriptedModel(reply=self.reply)

    def reply(self, messages, tools):
        if messages[0].text.startswith(SUMMARIZES):
            self.summaries.append(messages)
            return self.summary.format(count=len(self.requests))
        self.requests.append(messages)
        number = len(self.requests)
        if number > self.steps:
            return {"tool_calls": [{"name": "terminate", "args": {"status": "success", "answer": "read"}}]}
        return {"tool_calls": [{"name": self.name, "args": {"number": number}}]}

    def sent(self, kind):
        return [[message for message in request if isinstance(message, kind)] for request in self.requests]


@pytest.fixture
def agent(tmp_path):
    def make(reader, *condensers, settings=None, checkpointer=None):
        tools = [page, look, *build_tools(["terminate"])]
        spec = AgentSpec(
            name="reader",
            system_prompt="Read.",
            tools=("page", "look", "terminate"),
            max_steps=200,
            condensers=condensers,
        )
        settings = settings or Settings(home=tmp_path)
        return create_agent(spec, model=reader.model, tools=tools, settings=settings, checkpointer=checkpointer)

    return make


def prefixes(requests):
    """How often a request does not begin as the one before it did."""
    texts = [[message.text for message in request] for request in requests]
    return sum(after[: len(before)] != before for before, after in pairwise(texts))


def is_valid(messages):
    waiting = []
    for message in messages:
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
            continue
        assert not waiting
        waiting = [call["id"] for call in message.tool_calls] if isinstance(message, AIMessage) else []
    return not waiting


async def test_without_condensers_there_is_no_node_and_with_them_it_is_drawn(agent):
    assert "condense" not in agent(Reader(1)).get_graph().nodes
    edges = {(edge.source, edge.target) for edge in agent(Reader(1), Recent()).get_graph().edges}
    assert {("__start__", "condense"), ("condense", "think"), ("check_stuck", "condense")} <= edges


async def test_recent_sends_the_task_and_the_newest_messages_and_the_thread_keeps_all(agent):
    reader = Reader(40)
    state = await agent(reader, Recent(max_messages=10)).ainvoke(TASK)
    assert len(state["messages"]) == 1 + 41 * 2
    assert max(len(request) for request in reader.requests) <= 12
    assert all(request[1].text == "read all pages" for request in reader.requests)
    assert all(is_valid(request) for request in reader.requests)
    assert prefixes(reader.requests) <= 40 / 2


async def test_old_results_are_masked_and_the_newest_are_whole(agent):
    reader = Reader(30)
    await agent(reader, MaskResults(keep=4)).ainvoke(TASK)
    for number, results in enumerate(reader.sent(ToolMessage)):
        whole = [result for result in results if result.text.startswith("This is page")]
        assert len(results) == number
        assert min(number, 4) <= len(whole) <= 8
        assert results[len(results) - len(whole) :] == whole
    assert "left out here" in reader.sent(ToolMessage)[-1][0].text
    assert prefixes(reader.requests) <= 30 / 4


async def test_old_pictures_are_masked_and_their_text_is_not(agent):
    reader = Reader(10, name="look")
    await agent(reader, MaskImages(keep=1)).ainvoke(TASK)
    last = reader.requests[-1]
    pictures = [block for message in last for block in message.content if isinstance(block, dict)]
    assert 1 <= sum(block.get("type") == "image" for block in pictures) <= 2
    texts = [message.text for message in last if isinstance(message, ToolMessage)]
    assert all(f"screen {number}" in text for number, text in enumerate(texts, 1))
    assert "An earlier picture is left out here" in texts[0]


async def test_a_summary_stands_for_the_older_half_behind_the_task(agent):
    reader = Reader(30)
    state = await agent(reader, Summarize(max_messages=12)).ainvoke(TASK)
    assert state["outcome"].answer == "read"
    assert len(state["messages"]) == 1 + 31 * 2
    assert max(len(request) for request in reader.requests) <= 12 + 3
    last = reader.requests[-1]
    assert [type(message) for message in last[:3]] == [SystemMessage, HumanMessage, HumanMessage]
    assert last[1].text == "read all pages"
    assert state["condensed"]["summary"] in last[2].text
    assert all(is_valid(request) for request in reader.requests)
    assert 2 <= len(reader.summaries) <= 30 * 2 / 6
    assert state["progress"]["usage"]["llm_calls"] == len(reader.requests) + len(reader.summaries)
    assert state["progress"]["steps"] == len(reader.requests)


async def test_the_model_that_summarizes_is_shown_the_task_the_last_summary_and_what_was_done(agent):
    reader = Reader(20)
    await agent(reader, Summarize(max_messages=12)).ainvoke(TASK)
    first, second = (request[1].text for request in reader.summaries[:2])
    assert "read all pages" in first
    assert "(there is none)" in first
    events = [json.loads(line) for line in first.splitlines() if line.startswith("{")]
    assert events[1] == {"action": "call", "args": {"name": "page", "arguments": {"number": 1}}}
    assert events[2]["observation"] == "success"
    assert "Pages up to" in second
    assert "This is page 1." not in second


@pytest.mark.parametrize("bound", ["max_tokens", "of the model"])
async def test_too_many_tokens_are_summarized_too(agent, tmp_path, bound):
    reader = Reader(30)
    if bound == "max_tokens":
        graph = agent(reader, Summarize(max_messages=90, max_tokens=1500))
    else:
        graph = agent(reader, Summarize(max_messages=90), settings=Settings(home=tmp_path, max_input_tokens=2500))
    await graph.ainvoke(TASK)
    assert reader.summaries
    assert max(len(request) for request in reader.requests) < 40


@pytest.mark.parametrize("summary", ["", "And so on, and on, without end. " * 500])
async def test_a_summary_that_does_not_shrink_ends_the_run_with_an_error(agent, summary):
    reader = Reader(30, summary=summary)
    state = await agent(reader, Summarize(max_messages=12)).ainvoke(TASK)
    assert (state["status"], len(reader.summaries)) == ("error", 1)
    assert "it must be shorter" in state["outcome"].reason
    assert state["condensed"] is None


async def test_a_run_whose_summary_failed_is_taken_up_again(agent, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        reader = Reader(12, summary="")
        state = await agent(reader, Summarize(max_messages=12), checkpointer=saver).ainvoke(TASK, THREAD)
        assert state["status"] == "error"
        reader.summary = "Pages are read."
        state = await agent(reader, Summarize(max_messages=12), checkpointer=saver).ainvoke(
            continue_task(state), THREAD
        )
        assert (state["status"], state["condensed"]["summary"]) == ("finished", "Pages are read.")


async def test_condensers_work_as_a_pipeline(agent):
    reader = Reader(40)
    state = await agent(reader, MaskResults(keep=2), Summarize(max_messages=16), Recent(max_messages=30)).ainvoke(TASK)
    assert reader.summaries
    assert state["condensed"]["results"] > state["condensed"]["cut"] > 0
    whole = [message for message in reader.requests[-1] if message.text.startswith("This is page")]
    assert 2 <= len(whole) <= 4


async def test_the_settings_choose_for_agents_that_do_not(agent, tmp_path):
    reader, settings = Reader(20), Settings(home=tmp_path, condense=[Recent(max_messages=8)])
    await agent(reader, settings=settings).ainvoke(TASK)
    assert max(len(request) for request in reader.requests) <= 10
    with pytest.raises(ValidationError, match="kind"):
        Settings(condense=[{"kind": "forget"}])


async def test_what_was_settled_survives_a_new_process_and_a_summary_is_stored_once(agent, tmp_path):
    text = "The pages are read. " * 14 + "That is all."
    sizes = {}
    for kept in (False, True):
        database = tmp_path / f"{kept}.db"
        reader = Reader(60, summary=text)
        condensers = [Summarize(max_messages=12)] if kept else []
        async with open_saver(str(database)) as saver:
            graph = agent(reader, *condensers, checkpointer=saver)
            await graph.ainvoke(TASK, THREAD, durability="sync")
            state = (await graph.aget_state(THREAD)).values
        sizes[kept] = database.read_bytes().count(text.encode())
        if kept:
            async with open_saver(str(database)) as saver:
                again = (await agent(Reader(1), *condensers, checkpointer=saver).aget_state(THREAD)).values
            assert again["condensed"] == state["condensed"]
            assert 1 <= sizes[True] <= 2 * len(reader.summaries)
    assert sizes[False] == 0


async def test_the_next_task_goes_on_with_the_summary_of_the_one_before(agent, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        reader = Reader(12)
        graph = agent(reader, Summarize(max_messages=12), checkpointer=saver)
        await graph.ainvoke(TASK, THREAD)
        asked = len(reader.requests)
        await graph.ainvoke({"messages": [("user", "and now?")]}, THREAD)
        request = reader.requests[asked]
        assert "Pages up to" in request[1].text
        assert request[-1].text == "and now?"
        assert is_valid(request)


async def test_a_loop_is_seen_across_condensation(agent):
    class Loop(Reader):
        def reply(self, messages, tools):
            said = super().reply(messages, tools)
            return {"tool_calls": [{"name": "page", "args": {"number": 1}}]} if isinstance(said, dict) else said

    reader = Loop(100)
    state = await agent(reader, MaskResults(keep=1), Recent(max_messages=4)).ainvoke(TASK)
    assert max(len(request) for request in reader.requests) <= 7
    assert (state["status"], state["outcome"].reason) == ("stuck", "repeated_action")


async def test_another_model_may_write_the_summary(agent, tmp_path):
    (tmp_path / "cheap.json").write_text(json.dumps(["First.", "Second.", "Third.", "Fourth.", "Fifth."]))
    reader = Reader(12)
    graph = agent(reader, Summarize(max_messages=20, model=f"script:{tmp_path}/cheap.json"))
    state = await graph.ainvoke(TASK)
    assert (state["condensed"]["summary"], reader.summaries) == ("First.", [])


def test_the_prompts_of_the_summary_are_ours():
    folder = Path(__file__).parents[2] / "prompts"
    assert (folder / "condense_system.md").read_text().startswith(SUMMARIZES)
