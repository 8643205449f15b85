"""The loopback server that other tests rely on is itself as strict as it says."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from strict_openai import StrictOpenAI

USER = {"role": "user", "content": "go"}
TOOLS = [{"type": "function", "function": {"name": "bash", "parameters": {}}}]


def calls(*ids: str, name: str = "bash") -> dict[str, Any]:
    function = {"name": name, "arguments": "{}"}
    made = [{"id": identifier, "type": "function", "function": function} for identifier in ids]
    return {"role": "assistant", "content": None, "tool_calls": made}


def result(identifier: str, content: Any = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identifier, "content": content}


@pytest.fixture
def server() -> Iterator[StrictOpenAI]:
    with StrictOpenAI(context_length=2000) as running:
        yield running


def post(server: StrictOpenAI, key: str = "key", **request: Any) -> tuple[int, dict[str, Any]]:
    body = json.dumps({"model": "gpt-5", **request}).encode()
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {key}"} if key else {})}
    try:
        with urllib.request.urlopen(
            urllib.request.Request(f"{server.base_url}/chat/completions", body, headers)
        ) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)["error"]


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ([], "empty array"),
        ([{"role": "human", "content": "x"}], "Invalid value: 'human'"),
        ([USER, result("a")], "must be a response to a preceeding message"),
        ([USER, calls("a"), result("a"), result("a")], "must be a response to a preceeding message"),
        ([USER, calls("a"), USER, result("a")], "did not have response messages: a"),
        ([USER, calls("a", "b"), result("b")], "did not have response messages: a"),
        ([USER, calls("a", "a"), result("a")], "Duplicate value for 'tool_call_id' of 'a'"),
        ([USER, calls("a"), result("a"), calls("a"), result("a")], "Duplicate value for 'tool_call_id' of 'a'"),
        ([USER, calls("x" * 41), result("x" * 41)], "string too long"),
        ([USER, calls(""), result("")], "Missing required parameter"),
        ([USER, calls("a", name="a b"), result("a")], "does not match pattern"),
        ([USER, {"role": "assistant", "content": ""}], "expected a string, got null"),
        ([USER, {"role": "assistant", "content": None}], "expected a string, got null"),
        ([USER, {"role": "assistant", "content": "x", "tool_calls": []}], "empty array"),
        ([USER, calls("a"), result("a", [{"type": "image_url", "image_url": {}}])], "Image URLs are only allowed"),
        ([{"role": "user", "content": [{"type": "image"}]}], "Invalid value: 'image'"),
        ([{"role": "user", "content": None}], "expected a string, got null"),
        ([{"role": "user", "content": "x" * 9000}], "maximum context length is 2000 tokens"),
    ],
)
def test_a_history_that_openai_refuses_is_refused(
    server: StrictOpenAI, messages: list[dict[str, Any]], said: str
) -> None:
    status, error = post(server, messages=messages)
    assert status == 400
    assert said in error["message"]
    assert server.refusals == [error["message"]]
    assert server.accepted == []


@pytest.mark.parametrize(
    ("request_fields", "said"),
    [
        ({"tools": []}, "empty array"),
        ({"tools": TOOLS * 129}, "array too long"),
        ({"tool_choice": "auto"}, "only allowed when 'tools' are specified"),
        ({"tools": TOOLS, "tool_choice": "any"}, "Invalid value: 'any'"),
        ({"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "ls"}}}, "is not in 'tools'"),
        ({"tools": [{"type": "function", "function": {"name": "a.b"}}]}, "does not match pattern"),
        ({"model": ""}, "you must provide a model parameter"),
    ],
)
def test_a_request_that_openai_refuses_is_refused(
    server: StrictOpenAI, request_fields: dict[str, Any], said: str
) -> None:
    status, error = post(server, messages=[USER], **request_fields)
    assert status == 400
    assert said in error["message"]


def test_a_missing_key_is_refused(server: StrictOpenAI) -> None:
    assert post(server, key="", messages=[USER])[0] == 401


def test_a_valid_history_is_answered(server: StrictOpenAI) -> None:
    history = [{"role": "system", "content": "s"}, USER, calls("a", "b"), result("b"), result("a"), USER]
    status, answer = post(server, messages=history, tools=TOOLS, tool_choice="auto")
    assert status == 200
    assert answer["choices"][0]["message"]["content"] == "ok"


@pytest.mark.parametrize("streaming", [False, True])
async def test_the_real_client_reads_text_calls_and_usage(streaming: bool) -> None:
    def reply(request: dict[str, Any], n: int) -> Any:
        args = {"command": f"echo {n} {'x' * 50}"}
        return {"content": "I look.", "tool_calls": [{"name": "bash", "args": args}, {"name": "bash", "args": "{"}]}

    async with StrictOpenAI(reply) as server:
        model = ChatOpenAI(
            model="gpt-5", base_url=server.base_url, api_key="k", streaming=streaming, stream_usage=True, max_retries=0
        )
        history = [SystemMessage("s"), HumanMessage("go")]
        first = await model.ainvoke(history)
        assert (first.text, first.response_metadata["finish_reason"]) == ("I look.", "tool_calls")
        assert first.tool_calls[0]["args"] == {"command": "echo 0 " + "x" * 50}
        assert len(first.invalid_tool_calls) + len(first.tool_calls) == 2
        results = [ToolMessage("ok", tool_call_id=f"call_0_{n}") for n in range(2)]
        second = await model.ainvoke([*history, first, *results])
        assert isinstance(second, AIMessage)
        assert second.tool_calls[0]["id"] == "call_1_0"
        counted = second.usage_metadata
        assert 0 < counted["input_token_details"]["cache_read"] < counted["input_tokens"]
        assert server.refusals == []
