"""A chat model that misbehaves in every way in which models do, drawn by hypothesis.

::

    @given(chaos_models(tools={"echo": {"text": "hi"}}))
    async def test_every_run_ends(model): ...
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.tool import InvalidToolCall, ToolCall
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from clew.models.chunks import message_chunks

HUGE = 20_000
"""Characters of a huge text."""

MANY_CALLS = 20

CALL_IDS = ("call_1", "call_2", "call_3", "", None, "x" * 60)
"""So few that they repeat within a message and from message to message."""

MESSAGE_IDS = ("same", "other", None)


class ChaosModel(BaseChatModel):
    """Says `replies` in order, whatever it is asked, ids and all, and then `last_words` for ever."""

    replies: list[AIMessage]
    last_words: str = "I am done."
    streaming: bool = False

    _calls: int = PrivateAttr(default=0)

    def __repr__(self) -> str:
        # Hypothesis prints failing examples, and warns where their text is huge.
        replies = [repr(reply)[:500] for reply in self.replies]
        return f"ChaosModel(streaming={self.streaming}, replies={replies})"

    @property
    def calls(self) -> int:
        """How often it was asked."""
        return self._calls

    @property
    def _llm_type(self) -> str:
        return "chaos"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        return ChatResult(generations=[ChatGeneration(message=self._next())])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Any:
        return ChatResult(generations=[ChatGeneration(message=self._next())])

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in message_chunks(self._next()):
            yield ChatGenerationChunk(message=chunk)

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in message_chunks(self._next()):
            yield ChatGenerationChunk(message=chunk)

    def _next(self) -> AIMessage:
        place, self._calls = self._calls, self._calls + 1
        if place < len(self.replies):
            return self.replies[place].model_copy(deep=True)
        return AIMessage(self.last_words)


def chaos_models(
    tools: Mapping[str, Mapping[str, Any]] | None = None, *, most_replies: int = 12
) -> SearchStrategy[ChaosModel]:
    """Models of up to `most_replies` replies; `tools` gives each known tool's name and one set of good arguments."""
    replies = st.lists(chaos_replies(tools or {}), max_size=most_replies)
    return st.builds(ChaosModel, replies=replies, streaming=st.booleans())


def chaos_replies(tools: Mapping[str, Mapping[str, Any]]) -> SearchStrategy[AIMessage]:
    """One reply: empty, blank or huge text, no call, a few calls or twenty, good ones and bad ones."""
    call = st.one_of(good_calls(tools), wrong_calls(tools), invalid_calls(tools)) if tools else unknown_calls()
    calls = st.one_of(
        st.just([]),
        st.lists(call, min_size=1, max_size=3),
        st.lists(call, min_size=MANY_CALLS, max_size=MANY_CALLS),
    )
    return st.builds(_reply, content=contents(), calls=calls, identifier=st.sampled_from(MESSAGE_IDS))


def contents() -> SearchStrategy[Any]:
    """Text, no text, blank text, huge text, broken text, and content blocks."""
    blocks: list[str | dict[str, Any]] = [{"type": "text", "text": "in a block"}]
    fixed = ["", " \n", "the same text again", "word " * (HUGE // 5), "\x00\ufffd\u2028", [], blocks]
    return st.one_of(st.sampled_from(fixed), st.text(max_size=40))


def good_calls(tools: Mapping[str, Mapping[str, Any]]) -> SearchStrategy[ToolCall]:
    """Calls that a tool can answer."""
    return st.builds(
        lambda name, identifier: ToolCall(name=name, args=dict(tools[name]), id=identifier, type="tool_call"),
        st.sampled_from(sorted(tools)),
        st.sampled_from(CALL_IDS),
    )


def wrong_calls(tools: Mapping[str, Mapping[str, Any]]) -> SearchStrategy[ToolCall]:
    """Calls of known tools with wrong arguments, and calls of tools that do not exist."""
    args = st.sampled_from([{}, {"nonsense": 1}, {"text": None}, {"text": ["a", {"b": 2}]}, {"text": "y" * 10_000}])
    known = st.builds(_call, st.sampled_from(sorted(tools)), args, st.sampled_from(CALL_IDS))
    return st.one_of(known, unknown_calls())


def unknown_calls() -> SearchStrategy[ToolCall]:
    """Calls of tools that do not exist, some under names that no provider takes."""
    names = st.sampled_from(["no_such_tool", "", "a b", "multi_tool_use.parallel", "z" * 80])
    return st.builds(_call, names, st.just({"a": 1}), st.sampled_from(CALL_IDS))


def invalid_calls(tools: Mapping[str, Mapping[str, Any]]) -> SearchStrategy[InvalidToolCall]:
    """Calls whose arguments are not a JSON object."""
    return st.builds(
        lambda name, args, identifier: InvalidToolCall(
            name=name, args=args, id=identifier, error="not JSON", type="invalid_tool_call"
        ),
        st.sampled_from([*sorted(tools), None]),
        st.sampled_from(['{"text": "hi', "[1, 2]", "", "null", "text=hi", None]),
        st.sampled_from(CALL_IDS),
    )


def _call(name: str, args: dict[str, Any], identifier: str | None) -> ToolCall:
    return ToolCall(name=name, args=args, id=identifier, type="tool_call")


def _reply(content: Any, calls: list[Any], identifier: str | None) -> AIMessage:
    return AIMessage(
        content=content,
        id=identifier,
        tool_calls=[call for call in calls if call["type"] == "tool_call"],
        invalid_tool_calls=[call for call in calls if call["type"] == "invalid_tool_call"],
    )
