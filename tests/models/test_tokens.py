from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from clew.models.tokens import (
    TOKENS_PER_IMAGE,
    TOKENS_PER_MESSAGE,
    calibrate,
    estimate_tokens,
    message_tokens,
    tools_tokens,
)

MESSAGES: list[BaseMessage] = [
    SystemMessage("You are an agent that counts files."),
    HumanMessage("How many files are in this folder?"),
    AIMessage("I look.", tool_calls=[{"name": "bash", "args": {"command": "ls | wc -l"}, "id": "call_1"}]),
    ToolMessage("17", tool_call_id="call_1"),
]


@given(st.lists(st.sampled_from(MESSAGES)), st.lists(st.sampled_from(MESSAGES)))
@settings(deadline=None)
def test_the_estimate_is_additive(some: list[BaseMessage], others: list[BaseMessage]) -> None:
    assert estimate_tokens([*some, *others]) == estimate_tokens(some) + estimate_tokens(others)


@given(st.text(max_size=200), st.text(max_size=200))
@settings(deadline=None)
def test_more_text_is_never_fewer_tokens(text: str, more: str) -> None:
    assert message_tokens(HumanMessage(text)) <= message_tokens(HumanMessage(text + more))


def test_english_follows_openais_rule_of_a_hundred_tokens_for_seventy_five_words() -> None:
    sentence = "The agent looks at every folder of the project, counts the files and writes a short report about them."
    words = sentence.split() * 15
    estimated = message_tokens(HumanMessage(" ".join(words))) - TOKENS_PER_MESSAGE
    assert len(words) <= estimated <= len(words) * 100 / 75 * 1.2


def test_a_letter_of_another_script_weighs_more_than_one_of_english() -> None:
    letters = ("a", "\N{CYRILLIC SMALL LETTER ZHE}", "\N{CJK UNIFIED IDEOGRAPH-6587}")
    english, russian, chinese = (message_tokens(HumanMessage(letter * 400)) for letter in letters)
    assert english < russian < chinese


def test_an_image_counts_by_its_detail_and_not_by_its_bytes() -> None:
    def image(detail: str) -> HumanMessage:
        url = "data:image/png;base64," + "A" * 1_000_000
        return HumanMessage([{"type": "image_url", "image_url": {"url": url, "detail": detail}}])

    standard = HumanMessage([{"type": "image", "base64": "A" * 1_000_000, "mime_type": "image/png"}])
    assert message_tokens(standard) == message_tokens(image("high")) == TOKENS_PER_MESSAGE + TOKENS_PER_IMAGE
    assert message_tokens(image("low")) < 100


def test_tool_calls_and_tools_count() -> None:
    call = {"name": "bash", "args": {"command": "x" * 400}, "id": "1"}
    invalid = {"name": "bash", "args": "x" * 400, "id": "1", "error": None}
    assert message_tokens(AIMessage("", tool_calls=[call])) > 100
    assert message_tokens(AIMessage("", invalid_tool_calls=[invalid])) > 100
    tool = {"type": "function", "function": {"name": "bash", "description": "x" * 400}}
    assert estimate_tokens(MESSAGES, [tool]) == estimate_tokens(MESSAGES) + tools_tokens([tool])
    assert tools_tokens([tool]) > 100


def test_blocks_count_as_their_text() -> None:
    assert message_tokens(HumanMessage([{"type": "text", "text": "a" * 40}])) == message_tokens(HumanMessage("a" * 40))
    assert message_tokens(HumanMessage(["a" * 40])) == message_tokens(HumanMessage("a" * 40))


def test_lone_surrogates_are_counted_like_anything_else() -> None:
    assert message_tokens(HumanMessage("\ud800" * 8)) > TOKENS_PER_MESSAGE


@pytest.mark.parametrize(
    ("counted", "estimated", "factor"), [(150, 100, 1.5), (0, 100, 1.0), (5, 0, 1.0), (1000, 1, 4.0), (1, 1000, 0.25)]
)
def test_calibration_is_the_ratio_within_bounds(counted: int, estimated: int, factor: float) -> None:
    assert calibrate(counted, estimated) == factor


def test_the_work_of_the_estimate_is_linear_in_the_messages() -> None:
    few, many = (function_calls(MESSAGES * size) for size in (25, 250))
    assert 9 * few < many <= 10 * few
    assert few < 40 * len(MESSAGES * 25)


def function_calls(messages: list[BaseMessage]) -> int:
    """Calls of functions, Python's and C's, that the estimate takes: a measure that no other process disturbs."""
    counted = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        estimate_tokens(messages)
    finally:
        sys.setprofile(previous)
    return counted
