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

KEPT_METADATA = ("model_name", "finish_reason", "script")


def stored_reply(reply: AIMessage, history: Sequence[AnyMessage]) -> AIMessage:
    """The reply with calls that have unique ids and JSON arguments, an id of its own, and some content."""
    calls = [*reply.tool_calls, *map(_readable, reply.invalid_tool_calls)]
    reply_taken, calls_taken = _taken(history, reply.id, {call["id"] for call in calls})
    return AIMessage(
        content=EMPTY_REPLY if not calls and is_empty(reply) else _in_blocks(reply.content),
        tool_calls=_with_unique_ids(calls, calls_taken),
        id=reply.id if reply.id and not reply_taken else fresh_id(),
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


def _with_unique_ids(calls: Sequence[ToolCall], taken: set[str | None]) -> list[ToolCall]:
    unique = []
    for call in calls:
        given = call["id"] or ""
        identifier = given if 0 < len(given) <= LONGEST_CALL_ID and given not in taken else f"call_{uuid4().hex[:16]}"
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


def _taken(history: Sequence[AnyMessage], reply_id: str | None, calls: set[str | None]) -> tuple[bool, set[str | None]]:
    """Whether the history has the reply's id, and which of the calls' ids. One plain pass: it runs at every step."""
    reply_taken, calls_taken = False, set[str | None]()
    for message in history:
        if message.id == reply_id:
            reply_taken = True
        if type(message) is AIMessage:
            for call in message.tool_calls:
                if call["id"] in calls:
                    calls_taken.add(call["id"])
    return reply_taken, calls_taken


def text_of(content: Any) -> str:
    """The text of a message's content, blocks joined."""
    if isinstance(content, str):
        return content
    return "".join(block if isinstance(block, str) else block.get("text", "") for block in content)
