"""A whole reply cut into the chunks that a streaming model would have sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk

MOST_TEXT_CHUNKS = 50
"""Chunks of one reply's text: a word each, more where the text is long."""

ARGUMENT_CHUNKS = 3
"""Chunks of one tool call's arguments."""


def message_chunks(message: AIMessage) -> Iterator[AIMessageChunk]:
    """Chunks whose sum is the message: text word by word, then each tool call, then the metadata and usage."""
    if isinstance(message.content, str):
        for text in _pieces(re.findall(r"\s*\S+|\s+$", message.content), MOST_TEXT_CHUNKS):
            yield AIMessageChunk(content=text, id=message.id)
    elif message.content:
        yield AIMessageChunk(content=message.content, id=message.id)
    for index, (name, raw, identifier) in enumerate(_calls(message)):
        yield _call_chunk(message, index, name, "", identifier)
        for piece in _pieces(list(raw), ARGUMENT_CHUNKS):
            yield _call_chunk(message, index, None, piece, None)
    yield AIMessageChunk(
        content="" if isinstance(message.content, str) else [],
        id=message.id,
        additional_kwargs=message.additional_kwargs,
        response_metadata=message.response_metadata,
        usage_metadata=message.usage_metadata,
        chunk_position="last",
    )


def _calls(message: AIMessage) -> Iterator[tuple[str | None, str, str | None]]:
    for call in message.tool_calls:
        yield call["name"], json.dumps(call["args"], ensure_ascii=False), call["id"]
    for invalid in message.invalid_tool_calls:
        yield invalid["name"], invalid["args"] or "", invalid["id"]


def _call_chunk(message: AIMessage, index: int, name: str | None, args: str, identifier: str | None) -> AIMessageChunk:
    chunk = tool_call_chunk(name=name, args=args, id=identifier, index=index)
    return AIMessageChunk(content="", id=message.id, tool_call_chunks=[chunk])


def _pieces(parts: list[str], most: int) -> Iterator[str]:
    step = max(1, -(-len(parts) // most))
    for start in range(0, len(parts), step):
        yield "".join(parts[start : start + step])
