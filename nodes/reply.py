"""A model's reply as it is stored: every provider takes it back, and every call of the thread has its own id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, AnyMessage, InvalidToolCall, ToolCall

INVALID_ARGUMENTS = "__invalid_arguments__"
"""The one argument of a call whose arguments were not JSON: the text that the model gave instead."""

EMPTY_REPLY = "(empty reply)"
"""Content of an empty reply, which providers would refuse to take back."""

LONGEST_CALL_ID = 40
"""Characters of a call's id that OpenAI takes back."""

LONGEST_NAME = 64
"""Characters of a tool's name that OpenAI takes back; they are letters, digits, `_` and `-`."""

MOST_THREADS = 16
"""Threads whose ids are kept; those of another one are read anew."""

KEPT_METADATA = ("model_name", "finish_reason", "script")


class KnownIds:
    """The ids that the messages and calls of threads have, each thread read on from where it was read last.

    A thread is told by its first message; the newest few are kept.
    """

    def __init__(self) -> None:
        self._threads: dict[str, tuple[int, str, set[str]]] = {}

    def of(self, history: Sequence[AnyMessage]) -> set[str]:
        """The ids of a history's messages and of its calls."""
        if not history:
            return set()
        thread, newest = history[0].id or "", history[-1].id or ""
        length, last, known = self._threads.pop(thread, (0, "", set[str]()))
        if length > len(history) or (length and history[length - 1].id != last):
            length, known = 0, set()
        for message in history[length:]:
            known.add(message.id or "")
            if isinstance(message, AIMessage):
                known.update(call["id"] or "" for call in message.tool_calls)
        self._threads[thread] = len(history), newest, known
        if len(self._threads) > MOST_THREADS:
            del self._threads[next(iter(self._threads))]
        return known


def stored_reply(reply: AIMessage, known: set[str]) -> AIMessage:
    """The reply with calls that have JSON arguments, with ids for it and them that are none of `known`, and some
    content.
    """
    calls = [*reply.tool_calls, *map(_readable, reply.invalid_tool_calls)]
    return AIMessage(
        content=EMPTY_REPLY if not calls and is_empty(reply) else _in_blocks(reply.content),
        tool_calls=_with_unique_ids(calls, known),
        id=reply.id if reply.id and reply.id not in known else fresh_id(),
        name=reply.name,
        usage_metadata=reply.usage_metadata,
        response_metadata={
            key: reply.response_metadata[key] for key in KEPT_METADATA if key in reply.response_metadata
        },
    )


def is_empty(reply: AIMessage) -> bool:
    """Whether the reply says nothing in words."""
    return not reply.text.strip()


def fresh_id() -> str:
    """An id for a message of ours."""
    return str(uuid4())


def _readable(call: InvalidToolCall) -> ToolCall:
    return ToolCall(name=call["name"] or "", args={INVALID_ARGUMENTS: call["args"] or ""}, id=call["id"])


def _with_unique_ids(calls: Sequence[ToolCall], known: set[str]) -> list[ToolCall]:
    unique, taken = [], set[str]()
    for call in calls:
        given = call["id"] or ""
        is_free = 0 < len(given) <= LONGEST_CALL_ID and given not in known and given not in taken
        identifier = given if is_free else f"call_{uuid4().hex[:16]}"
        taken.add(identifier)
        unique.append(ToolCall(name=_sendable(call["name"]), args=call["args"], id=identifier, type="tool_call"))
    return unique


def _in_blocks(content: str | list[str | dict[Any, Any]]) -> str | list[str | dict[Any, Any]]:
    """The content without bare and empty texts among its blocks, which a stream may leave there."""
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in content if block] or ""


def _sendable(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:LONGEST_NAME] or "unnamed"


def text_of(content: Any) -> str:
    """The text of a message's content, blocks joined."""
    if isinstance(content, str):
        return content
    return "".join(block if isinstance(block, str) else block.get("text", "") for block in content)
