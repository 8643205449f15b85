from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import ModelConnectionError
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from clew.models.chunks import message_chunks
from clew.models.scripted import ScriptedModel, ScriptedStatus
from clew.state.errors import ScriptError, UsageError

LOOK = {"content": "I look.", "tool_calls": [{"name": "bash", "args": {"command": "ls"}}]}


@tool
def bash(command: str) -> str:
    """Run a command."""
    return command


def script(folder: Path, value: Any) -> Path:
    path = folder / "demo.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


async def play(model: ScriptedModel, request: list[BaseMessage]) -> list[BaseMessage]:
    """The request and its reply."""
    return [*request, await model.ainvoke(request)]


async def test_replies_come_in_order() -> None:
    model = ScriptedModel(replies=["one", "two"])
    history = await play(model, [HumanMessage("go")])
    history = await play(model, [*history, HumanMessage("on")])
    assert [message.text for message in history] == ["go", "one", "on", "two"]


async def test_the_place_is_found_by_another_process_and_after_the_history_was_cut(tmp_path: Path) -> None:
    path = script(tmp_path, ["one", "two", "three"])
    history = await play(ScriptedModel.from_file(path), [HumanMessage("go")])
    history = await play(ScriptedModel.from_file(path), [*history, HumanMessage("on")])
    newest = [history[0], history[-1]]
    assert (await ScriptedModel.from_file(path).ainvoke(newest)).text == "three"


async def test_the_same_request_gets_the_same_reply() -> None:
    model = ScriptedModel(replies=["one", "two"])
    assert [(await model.ainvoke("go")).text for _ in range(2)] == ["one", "one"]


async def test_replies_are_fresh_copies_without_ids() -> None:
    given_message = AIMessage("hello", id="mine", additional_kwargs={"list": []})
    model = ScriptedModel(replies=[given_message])
    one, other = [(await model._agenerate([HumanMessage("go")])).generations[0].message for _ in range(2)]
    assert one.id is None
    one.additional_kwargs["list"].append("spoiled")
    assert other.additional_kwargs == given_message.additional_kwargs == {"list": []}


async def test_a_script_that_is_too_short_names_the_file_and_the_place(tmp_path: Path) -> None:
    model = ScriptedModel.from_file(script(tmp_path, ["one"]))
    history = await play(model, [HumanMessage("go")])
    with pytest.raises(ScriptError, match=r"demo\.json: script 'script' ends at reply 1"):
        await model.ainvoke(history)


async def test_one_file_serves_a_planner_and_several_agents(tmp_path: Path) -> None:
    scripts = [
        {"name": "planner", "match": "^You plan", "replies": ["the plan"]},
        {"name": "counter", "match": "^Current step: count", "replies": [LOOK, "counted"]},
        {"name": "rest", "replies": ["the rest"]},
    ]
    model = ScriptedModel.from_file(script(tmp_path, {"scripts": scripts}))
    assert (await model.ainvoke([SystemMessage("You plan."), HumanMessage("Current step: count")])).text == "the plan"
    assert (await model.ainvoke("Something else.")).text == "the rest"
    history = await play(model, [HumanMessage("All steps.\nCurrent step: count files")])
    assert history[-1].tool_calls[0]["id"] == "call_counter_0_0"
    history = await play(model, [*history, ToolMessage("3", tool_call_id="call_counter_0_0")])
    assert history[-1].text == "counted"


async def test_a_request_that_no_script_fits_is_an_error(tmp_path: Path) -> None:
    model = ScriptedModel.from_file(script(tmp_path, {"scripts": [{"match": "plan", "replies": ["x"]}]}))
    with pytest.raises(ScriptError, match="no script fits the request that ends in 'hello'"):
        await model.ainvoke("hello")


async def test_an_error_comes_as_often_as_it_says_and_then_the_script_goes_on() -> None:
    model = ScriptedModel(replies=[{"error": {"status": 503, "message": "overloaded", "times": 2}}, "at last"])
    for _ in range(2):
        with pytest.raises(ScriptedStatus, match="overloaded") as caught:
            await model.ainvoke("go")
        assert caught.value.status_code == 503
    assert (await model.ainvoke("go")).text == "at last"


async def test_an_error_without_a_status_is_a_broken_connection() -> None:
    with pytest.raises(ModelConnectionError, match="gone"):
        await ScriptedModel(replies=[{"error": {"message": "gone"}}]).ainvoke("go")


async def test_broken_json_arguments_are_an_invalid_tool_call() -> None:
    calls = [{"name": "bash", "args": '{"command": '}, {"name": "bash", "args": '{"command": "ls"}'}]
    reply = await ScriptedModel(replies=[{"tool_calls": calls}]).ainvoke("go")
    assert [call["args"] for call in reply.invalid_tool_calls] == ['{"command": ']
    assert [call["args"] for call in reply.tool_calls] == [{"command": "ls"}]


async def test_usage_is_what_the_script_says() -> None:
    usage = {"input_tokens": 100, "output_tokens": 7, "cached_tokens": 60}
    reply = await ScriptedModel(replies=[{"content": "x", "usage": usage}]).ainvoke("go")
    assert reply.usage_metadata == {
        "input_tokens": 100,
        "output_tokens": 7,
        "total_tokens": 107,
        "input_token_details": {"cache_read": 60},
    }


async def test_usage_is_estimated_where_the_script_is_silent() -> None:
    short = await ScriptedModel(replies=["x"]).ainvoke("go")
    long = await ScriptedModel(replies=["x"]).ainvoke("go" * 1000)
    assert long.usage_metadata["input_tokens"] > 50 * short.usage_metadata["input_tokens"]


async def test_a_reply_waits_as_long_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await ScriptedModel(replies=[{"content": "x", "delay": 1.5}]).ainvoke("go")
    assert waits == [1.5]


async def test_a_stream_has_several_chunks_of_text_and_of_each_call() -> None:
    chunks = [chunk async for chunk in ScriptedModel(replies=[LOOK]).astream("go")]
    assert [chunk.content for chunk in chunks[:2]] == ["I", " look."]
    assert len([chunk for chunk in chunks if chunk.tool_call_chunks]) > 2
    assert [chunk.usage_metadata is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


@given(
    text=st.text(max_size=300),
    args=st.lists(st.dictionaries(st.text(max_size=5), st.text(max_size=20) | st.integers(), max_size=3), max_size=3),
)
@settings(deadline=None)
def test_the_sum_of_the_chunks_is_the_reply(text: str, args: list[dict[str, Any]]) -> None:
    calls = [{"name": "bash", "args": each, "id": f"c{number}"} for number, each in enumerate(args)]
    message = AIMessage(text, tool_calls=calls, response_metadata={"a": 1})
    chunks = list(message_chunks(message))
    whole = sum(chunks[1:], chunks[0])
    assert isinstance(whole, AIMessageChunk)
    assert (whole.content, whole.tool_calls) == (message.content, message.tool_calls)
    assert whole.response_metadata == {"a": 1}
    assert len(chunks) < 70


def test_a_function_sees_the_messages_and_the_tools_that_it_may_call(tmp_path: Path) -> None:
    path = tmp_path / "demo.py"
    path.write_text(
        "def reply(messages, tools):\n"
        "    return f'{messages[-1].text} ' + ','.join(t['function']['name'] for t in tools)\n",
        encoding="utf-8",
    )
    model = ScriptedModel.from_file(path)
    assert model.bind_tools([bash]).invoke("hi").text == "hi bash"
    assert model.bind_tools([bash], tool_choice="bash").invoke("hi").text == "hi bash"
    assert model.bind_tools([bash], tool_choice="none").invoke("hi").text == "hi "


async def test_a_function_may_be_async_and_is_then_waited_for_by_both_kinds_of_call() -> None:
    async def reply(messages: list[BaseMessage], tools: list[Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return LOOK

    model = ScriptedModel(reply=reply)
    assert (await model.ainvoke("go")).tool_calls[0]["name"] == "bash"
    assert model.invoke("go").tool_calls[0]["name"] == "bash"


async def test_what_a_function_may_not_return_is_an_error() -> None:
    with pytest.raises(ScriptError, match=r"reply\(\) must return an AIMessage"):
        await ScriptedModel(reply=lambda messages, tools: 5).ainvoke("go")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", "[", "is not JSON"),
        ("a.json", '[{"text": "x"}]', "is malformed: .*text"),
        ("a.json", '{"scripts": [{"name": "a", "replies": []}, {"name": "a", "replies": []}]}', "name of its own"),
        ("a.json", '[{"error": {"times": 0}}]', "is malformed"),
        ("a.json", '{"match": "(", "replies": []}', "is malformed"),
        ("a.py", "def (", "is not Python"),
        ("a.py", "x = 1", r"must define a function reply\(messages, tools\)"),
        ("a.txt", "", "must be a .json or a .py file"),
    ],
)
def test_a_malformed_file_is_refused_with_the_reason(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        ScriptedModel.from_file(tmp_path / name)


@pytest.mark.parametrize("name", ["no.json", "no.py"])
def test_a_missing_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        ScriptedModel.from_file(tmp_path / name)
