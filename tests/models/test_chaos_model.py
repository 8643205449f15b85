"""The chaos model misbehaves in the ways that it promises."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chaos_model import HUGE, MANY_CALLS, ChaosModel, chaos_models, chaos_replies
from hypothesis import Phase, find, given, settings
from langchain_core.messages import AIMessage

TOOLS = {"echo": {"text": "hi"}}

MISBEHAVIOURS: dict[str, Callable[[AIMessage], bool]] = {
    "empty": lambda reply: not reply.content and not reply.tool_calls and not reply.invalid_tool_calls,
    "huge text": lambda reply: len(reply.text) >= HUGE,
    "twenty calls": lambda reply: len(reply.tool_calls) + len(reply.invalid_tool_calls) == MANY_CALLS,
    "bad JSON": lambda reply: any(call["args"] == '{"text": "hi' for call in reply.invalid_tool_calls),
    "unknown tool": lambda reply: any(call["name"] == "no_such_tool" for call in reply.tool_calls),
    "wrong arguments": lambda reply: any(
        call["name"] == "echo" and "nonsense" in call["args"] for call in reply.tool_calls
    ),
    "a good call": lambda reply: any(call["args"] == {"text": "hi"} for call in reply.tool_calls),
    "repeated call ids": lambda reply: [call["id"] for call in reply.tool_calls] == ["call_1", "call_1"],
    "no call id": lambda reply: any(call["id"] is None for call in reply.tool_calls),
    "a repeated message id": lambda reply: reply.id == "same",
}


@pytest.mark.parametrize("misbehaviour", MISBEHAVIOURS)
def test_every_misbehaviour_is_among_its_replies(misbehaviour: str) -> None:
    limits = settings(max_examples=5000, database=None, derandomize=True, phases=[Phase.generate])
    assert find(chaos_replies(TOOLS), MISBEHAVIOURS[misbehaviour], settings=limits)


@given(model=chaos_models(TOOLS))
@settings(max_examples=10, deadline=None)
async def test_it_says_its_replies_and_then_its_last_words(model: ChaosModel) -> None:
    said = [await model.ainvoke("go") for _ in range(len(model.replies) + 2)]
    assert [reply.text for reply in said[-2:]] == [model.last_words] * 2
    assert [len(reply.tool_calls) + len(reply.invalid_tool_calls) for reply in said[:-2]] == [
        len(reply.tool_calls) + len(reply.invalid_tool_calls) for reply in model.replies
    ]
    assert model.calls == len(said)
