"""Long runs of the agent graph with the real OpenAI client against a server that keeps OpenAI's rules."""

import json
from itertools import pairwise, takewhile

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from strict_openai import StrictOpenAI

from clew.graphs import AgentSpec, create_agent
from clew.models.load import load_model
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

SYSTEM = "You look through shelves, one after the other. " * 4
NEXT_STEP = "What is next?"
TASK = {"messages": [("user", "Look through all shelves.")]}


@tool
def look(shelf: int, length: int = 40) -> str:
    """Say what stands on a shelf, in `length` words."""
    return " ".join(f"book-{shelf}-{place}" for place in range(length))


def looks(*shelves, **fields):
    return [{"name": "look", "args": {"shelf": shelf, **fields}} for shelf in shelves]


def good_and_bad_replies(steps):
    """Single calls, parallel calls, ids used before, arguments that are no JSON, unknown tools, empty replies."""

    def reply(request, n):
        if n == steps - 1:
            return {"tool_calls": [{"name": "terminate", "args": {"status": "success", "answer": "all seen"}}]}
        if n % 7 == 3:
            return {"tool_calls": looks(n, n + 1000, n + 2000, length=n % 20)}
        if n % 11 == 4:
            return {"tool_calls": [{**call, "id": "call_again"} for call in looks(n, n + 1000)]}
        if n % 13 == 5:
            return {"content": f"broken {n}", "tool_calls": [{"name": "look", "args": '{"shelf": 1'}]}
        if n % 17 == 6:
            return {"tool_calls": [{"name": "no_such_tool", "args": {"n": n}}, *looks(n)]}
        return "" if n % 29 == 8 else {"content": f"Shelf {n}.", "tool_calls": looks(n, length=n % 60)}

    return reply


async def run(server, tmp_path, *, steps, streaming=False, max_input_tokens=None, **fields):
    llm = {"base_url": server.base_url, "api_key": "key", "max_input_tokens": max_input_tokens, "max_retries": 0}
    settings = Settings(home=tmp_path, llm={key: value for key, value in llm.items() if value is not None})
    tools = [look, *build_tools(["terminate"])]
    spec = AgentSpec(
        name="librarian",
        system_prompt=SYSTEM,
        next_step_prompt=NEXT_STEP,
        tools=[each.name for each in tools],
        max_steps=steps,
        **fields,
    )
    model = load_model("openai:strict", settings=settings)
    graph = create_agent(spec, model=model, tools=tools, settings=settings)
    if not streaming:
        return await graph.ainvoke(TASK)
    async for mode, part in graph.astream(TASK, stream_mode=["messages", "values"]):
        if mode == "values":
            state = part
    return state


def where_views_begin(requests):
    """The first message after the system prompt and the task, request by request."""
    return [json.dumps(request["messages"][2:3]) for request in requests]


def shared(requests):
    """How much of each request, by its bytes, the request before began with too; the average."""
    texts = [json.dumps(request["messages"]) for request in requests]
    ratios = [same_start(before, after) / len(after) for before, after in pairwise(texts)]
    return sum(ratios) / len(ratios)


def same_start(one, other):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def call_ids(state):
    return [
        call["id"] for message in state["messages"] if isinstance(message, AIMessage) for call in message.tool_calls
    ]


@pytest.mark.parametrize(
    ("streaming", "steps", "bounds"),
    [
        pytest.param(False, 300, {"max_messages": 16}, id="whole"),
        pytest.param(True, 300, {"max_input_tokens": 2000}, id="streaming"),
        pytest.param(True, 1500, {"max_input_tokens": 8000}, id="long", marks=pytest.mark.soak),
    ],
)
async def test_hundreds_of_steps_pass_without_a_refusal(tmp_path, streaming, steps, bounds):
    async with StrictOpenAI(good_and_bad_replies(steps), context_length=bounds.get("max_input_tokens")) as server:
        state = await run(server, tmp_path, steps=steps, streaming=streaming, **bounds)
    assert server.refusals == []
    assert (state["status"], state["outcome"].answer) == ("finished", "all seen")
    assert len(server.accepted) == state["progress"]["steps"] == steps
    assert len(set(where_views_begin(server.accepted))) > 10
    assert all(request["messages"][1]["content"] == "Look through all shelves." for request in server.accepted)
    assert len(set(call_ids(state))) == len(call_ids(state)) > steps


async def test_consecutive_requests_begin_alike(tmp_path):
    async with StrictOpenAI(good_and_bad_replies(100), context_length=5000) as server:
        state = await run(server, tmp_path, steps=100, max_input_tokens=5000)
    assert len(set(where_views_begin(server.accepted))) > 5
    assert shared(server.accepted) >= 0.8
    usage = state["progress"]["usage"]
    assert usage["cached_tokens"] >= 0.7 * usage["input_tokens"]


async def test_a_context_overflow_is_mended_by_a_harder_cut(tmp_path):
    async with StrictOpenAI(good_and_bad_replies(60), context_length=2500) as server:
        state = await run(server, tmp_path, steps=60)
    assert state["status"] == "finished"
    assert len(server.accepted) == 60
    assert 2 <= len(server.refusals) <= 20
    assert all("maximum context length" in refusal for refusal in server.refusals)


async def test_an_overflow_by_the_newest_results_is_mended_by_shortening_them(tmp_path):
    def reply(request, n):
        return "done" if n else {"tool_calls": looks(1, 2, 3, length=3000)}

    async with StrictOpenAI(reply, context_length=4000) as server:
        state = await run(server, tmp_path, steps=5)
    assert (state["status"], len(server.refusals)) == ("finished", 1)
    assert "characters left out" in server.accepted[-1]["messages"][-2]["content"]


async def test_an_overflow_that_no_cut_mends_ends_the_run_with_the_server_s_words(tmp_path):
    async with StrictOpenAI(context_length=50) as server:
        state = await run(server, tmp_path, steps=5)
    assert (state["status"], len(server.requests)) == ("error", 2)
    assert "maximum context length is 50 tokens" in state["outcome"].reason
