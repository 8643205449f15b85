"""Retries against a real server and the real OpenAI client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, StateGraph
from strict_openai import Fault, StrictOpenAI
from typing_extensions import TypedDict

from clew.models.call import call_model
from clew.models.openai import openai_model
from clew.models.scripted import ScriptedModel
from clew.state.errors import ContextOverflow, ModelError, ScriptError
from clew.state.settings import ModelSettings

GO = [HumanMessage("go")]


@pytest.fixture
async def server() -> AsyncIterator[StrictOpenAI]:
    async with StrictOpenAI(lambda request, n: "A reply of a few words.") as running:
        yield running


class Waits:
    """Stands in for `sleep`, and keeps what it was asked for."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Listener(AsyncCallbackHandler):
    """Wants tokens, as LangGraph's message stream does."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    async def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self.tokens.append(token)


async def ask(server: StrictOpenAI, *, stream: bool = False, patience: float = 20.0, **options: Any) -> AIMessage:
    settings = ModelSettings(base_url=server.base_url, timeout=patience)
    model = openai_model("gpt-5", settings).bind(stream=True) if stream else openai_model("gpt-5", settings)
    options = {"sleep": Waits(), **options}
    return await call_model(model, options.pop("messages", GO), **options)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
async def test_a_status_that_may_pass_is_tried_again(server: StrictOpenAI, status: int, stream: bool) -> None:
    server.faults.extend([Fault(status=status)] * 2)
    assert (await ask(server, stream=stream)).text == "A reply of a few words."
    assert len(server.requests) == 3


@pytest.mark.parametrize("kind", ["reset", "cut", "end", "error"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_broken_connection_or_stream_is_tried_again(server: StrictOpenAI, kind: Any, stream: bool) -> None:
    server.faults.append(Fault(kind))
    assert (await ask(server, stream=stream)).text == "A reply of a few words."
    assert len(server.requests) == 2


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_that_hangs_is_tried_again(server: StrictOpenAI, stream: bool) -> None:
    server.faults.append(Fault("hang"))
    assert (await ask(server, stream=stream, patience=0.3)).text == "A reply of a few words."
    assert len(server.requests) == 2


async def test_one_try_may_be_bounded_for_any_provider() -> None:
    said = iter([30.0, 0.0])
    model = ScriptedModel(reply=lambda *_: {"content": "quick", "delay": next(said)})
    assert (await call_model(model, GO, seconds=0.05, sleep=Waits())).text == "quick"


async def test_a_server_that_is_not_there_is_tried_again_and_then_named() -> None:
    async with StrictOpenAI() as gone:
        pass
    waits = Waits()
    with pytest.raises(ModelError, match=r"^gpt-5: Connection error\., after 3 tries$"):
        await ask(gone, max_retries=2, sleep=waits)
    assert len(waits.seconds) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_fails_at_once_with_the_providers_own_words(server: StrictOpenAI, status: int) -> None:
    server.faults.append(Fault(status=status, message="No such\n thing.", type="invalid_request_error"))
    with pytest.raises(ModelError) as caught:
        await ask(server)
    assert str(caught.value) == f"gpt-5: No such thing. (HTTP {status})"
    assert type(caught.value) is ModelError
    assert len(server.requests) == 1


async def test_an_empty_account_is_not_tried_again(server: StrictOpenAI) -> None:
    server.faults.append(Fault(status=429, message="You exceeded your current quota.", code="insufficient_quota"))
    with pytest.raises(ModelError, match="exceeded your current quota"):
        await ask(server)
    assert len(server.requests) == 1


async def test_the_last_failure_is_told_when_the_tries_are_used_up(server: StrictOpenAI) -> None:
    server.faults.extend([Fault(status=503, message="Overloaded.")] * 4)
    with pytest.raises(ModelError, match=r"^gpt-5: Overloaded\. \(HTTP 503\), after 4 tries$"):
        await ask(server, max_retries=3)
    assert len(server.requests) == 4


@pytest.mark.parametrize("stream", [False, True])
async def test_a_request_that_is_too_long_is_a_context_overflow(stream: bool) -> None:
    async with StrictOpenAI(context_length=100) as server:
        with pytest.raises(ContextOverflow, match="maximum context length is 100 tokens"):
            await ask(server, stream=stream, messages=[HumanMessage("word " * 200)])
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "said",
    [
        "prompt is too long: 215000 tokens > 200000 maximum",
        "the request exceeds the available context size, try increasing it",
        "This model's maximum context length is 8192 tokens.",
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        "Input is too long for requested model.",
    ],
)
async def test_other_servers_words_for_a_context_overflow_are_known(server: StrictOpenAI, said: str) -> None:
    server.faults.append(Fault(status=400, message=said))
    with pytest.raises(ContextOverflow):
        await ask(server)


async def test_the_waits_grow_twofold_and_are_bounded_and_spread(server: StrictOpenAI) -> None:
    server.faults.extend([Fault()] * 6)
    waits = Waits()
    await ask(server, max_retries=6, first_delay=1.0, max_delay=10.0, sleep=waits, jitter=lambda: 0.5)
    assert waits.seconds == [0.75, 1.5, 3.0, 6.0, 7.5, 7.5]


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        ({"Retry-After": "7"}, 7, 7),
        ({"Retry-After": "3600"}, 60, 60),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25, 0.25),
        ({"Retry-After": format_datetime(datetime.now(UTC) + timedelta(days=400), usegmt=True)}, 60, 60),
        ({"Retry-After": format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)}, 0, 0),
        ({"Retry-After": "soon"}, 0.25, 0.5),
    ],
)
async def test_retry_after_is_honoured_within_bounds(
    server: StrictOpenAI, headers: dict[str, str], least: float, most: float
) -> None:
    server.faults.append(Fault(status=429, headers=headers))
    waits = Waits()
    await ask(server, sleep=waits)
    assert least <= waits.seconds[0] <= most


async def test_a_retry_is_told(server: StrictOpenAI) -> None:
    server.faults.append(Fault(status=503, message="Overloaded.", headers={"Retry-After": "2"}))
    told: list[tuple[str, float]] = []
    await ask(server, on_retry=lambda *what: told.append(what))
    assert told == [("Overloaded. (HTTP 503)", 2.0)]


async def test_tokens_reach_a_listener_and_usage_comes_with_the_stream(server: StrictOpenAI) -> None:
    listener = Listener()
    reply = await ask(server, stream=True, config={"callbacks": [listener]})
    assert "".join(listener.tokens) == reply.text == "A reply of a few words."
    assert len(listener.tokens) > 2
    assert reply.usage_metadata["input_tokens"] > 0
    assert server.requests[0]["stream_options"] == {"include_usage": True}


async def test_a_scripted_failure_is_tried_again_like_a_real_one() -> None:
    model = ScriptedModel(replies=[{"error": {"status": 503}}, {"error": {}}, "at last"])
    assert (await call_model(model, GO, sleep=Waits())).text == "at last"


@pytest.mark.parametrize("error", [ScriptError("no reply"), GraphInterrupt(()), KeyError("a bug")])
async def test_what_is_not_the_providers_failure_passes_unchanged(error: Exception) -> None:
    tries: list[int] = []

    def reply(messages: list[Any], tools: list[Any]) -> str:
        tries.append(1)
        raise error

    with pytest.raises(type(error)) as caught:
        await call_model(ScriptedModel(reply=reply), GO, sleep=Waits())
    assert caught.value is error
    assert len(tries) == 1


async def test_a_cancelled_call_ends_at_once(server: StrictOpenAI) -> None:
    server.faults.append(Fault("hang"))
    task = asyncio.create_task(ask(server))
    assert await asyncio.to_thread(server.arrived.wait, 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(server.requests) == 1


async def test_a_refused_history_is_told_in_the_providers_words(server: StrictOpenAI) -> None:
    with pytest.raises(ModelError, match="must be a response to a preceeding message with 'tool_calls'"):
        await ask(server, messages=[*GO, ToolMessage("x", tool_call_id="call_1")])


class Said(TypedDict):
    messages: list[AnyMessage]


@pytest.mark.parametrize("model_kind", ["scripted", "openai"])
async def test_a_graphs_message_stream_sees_the_tokens(server: StrictOpenAI, model_kind: str) -> None:
    model: BaseChatModel = ScriptedModel(replies=["A reply of a few words."])
    if model_kind == "openai":
        model = openai_model("gpt-5", ModelSettings(base_url=server.base_url))

    async def think(state: Said, config: RunnableConfig) -> Said:
        return {"messages": [await call_model(model, state["messages"], config=config)]}

    builder = StateGraph(Said)
    builder.add_node("think", think)
    builder.add_edge(START, "think")
    graph = builder.compile()
    chunks = [chunk async for chunk, _ in graph.astream({"messages": GO}, stream_mode="messages")]
    assert "".join(chunk.text for chunk in chunks) == "A reply of a few words."
    assert len(chunks) > 3
    assert len({chunk.id for chunk in chunks}) == 1
