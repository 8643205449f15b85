"""Tokens of a request, estimated without a tokenizer and without network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from .vision import is_image

BYTES_PER_TOKEN = 4
"""UTF-8 bytes of one token: 4 letters of English, 2 of Cyrillic, a character and a third of Chinese."""

TOKENS_PER_MESSAGE = 4
"""Tokens around each message (OpenAI cookbook, "How to count tokens with tiktoken")."""

TOKENS_PER_IMAGE = 765
"""Tokens of an image of 1024 x 1024 in full detail (OpenAI guide, "Images and vision")."""

TOKENS_PER_LOW_IMAGE = 85
"""Tokens of an image whose detail is `low`."""

CALIBRATION_BOUNDS = (0.25, 4.0)
"""A provider's count that is further from the estimate than this says nothing about tokens."""

# json.dumps() with options would make an encoder for each call.
encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def estimate_tokens(messages: Iterable[BaseMessage], tools: Iterable[Mapping[str, Any]] = ()) -> int:
    """Tokens that a request has, by estimate: the sum over its messages and tools.

    The estimate is additive, so that a history can be counted once and cut by running sums. Multiply by `calibrate()`
    of an earlier reply for the provider's own count.
    """
    return sum(map(message_tokens, messages)) + tools_tokens(tools)


def message_tokens(message: BaseMessage) -> int:
    """Tokens of one message, by estimate; never 0."""
    size = _text_size(message.name or "")
    tokens = TOKENS_PER_MESSAGE
    if isinstance(message.content, str):
        size += _text_size(message.content)
    else:
        for block in message.content:
            if is_image(block):
                tokens += _image_tokens(block)
            else:
                size += _block_size(block)
    if isinstance(message, AIMessage):
        size += sum(_call_size(call["name"], call["args"]) for call in message.tool_calls)
        size += sum(_call_size(call["name"], call["args"]) for call in message.invalid_tool_calls)
    elif isinstance(message, ToolMessage):
        size += _text_size(message.tool_call_id)
    return tokens + _tokens(size)


def tools_tokens(tools: Iterable[Mapping[str, Any]]) -> int:
    """Tokens of tool schemas (the OpenAI form, as `convert_to_openai_tool` gives it), by estimate."""
    return sum(_tokens(_text_size(encode(tool))) for tool in tools)


def calibrate(counted: int, estimated: int) -> float:
    """Factor from our estimate to the provider's count of the same request; 1 where either is missing."""
    if counted <= 0 or estimated <= 0:
        return 1.0
    least, most = CALIBRATION_BOUNDS
    return min(max(counted / estimated, least), most)


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)


def _text_size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode(errors="replace"))


def _block_size(block: Any) -> int:
    if isinstance(block, str):
        return _text_size(block)
    text = block.get("text")
    if isinstance(text, str):
        return _text_size(text)
    return _text_size(encode(block))


def _call_size(name: str | None, args: Any) -> int:
    raw = args if isinstance(args, str) else encode(args)
    return _text_size(name or "") + _text_size(raw)


def _image_tokens(block: Any) -> int:
    image = block.get("image_url")
    detail = image.get("detail") if isinstance(image, dict) else block.get("detail")
    return TOKENS_PER_LOW_IMAGE if detail == "low" else TOKENS_PER_IMAGE
