"""Images in requests: left out for a model that does not see, and out of tool results for one that does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

IMAGE_MARKER = "[image left out: this model does not see images]"
"""What a model that does not see gets for each image."""

IMAGE_BELOW = "[image: it follows in the next message]"
"""What stands in a tool result for each of its images, which are sent behind it."""

IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})
"""Types of the content blocks that hold an image: LangChain's, OpenAI's chat completions and OpenAI's responses."""


def is_image(block: Any) -> bool:
    """Whether a content block holds an image."""
    return isinstance(block, dict) and block.get("type") in IMAGE_TYPES


def has_images(message: BaseMessage) -> bool:
    """Whether a message's content has an image among its blocks."""
    # A text would be gone through letter by letter.
    return not isinstance(message.content, str) and any(map(is_image, message.content))


def without_images(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The messages with a text marker for each image; a message without images stays the same object."""
    return [_without_images(message) for message in messages]


def images_after_tools(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    """The messages with the images of tool results in a message of their own behind the results of a reply.

    OpenAI's chat completions take images from the user alone. A message without images stays the same object.
    """
    moved: list[BaseMessage] = []
    waiting: list[str | dict[str, Any]] = []
    for message in messages:
        if not isinstance(message, ToolMessage) and waiting:
            moved.append(HumanMessage(waiting))
            waiting = []
        if isinstance(message, ToolMessage) and has_images(message):
            waiting += [{"type": "text", "text": f"Images of the tool call {message.tool_call_id}:"}]
            waiting += [block for block in message.content if is_image(block)]
            message = _with_marker(message, IMAGE_BELOW)
        moved.append(message)
    return [*moved, HumanMessage(waiting)] if waiting else moved


def _without_images(message: BaseMessage) -> BaseMessage:
    return _with_marker(message, IMAGE_MARKER) if has_images(message) else message


def _with_marker(message: BaseMessage, marker: str) -> BaseMessage:
    content = [{"type": "text", "text": marker} if is_image(block) else block for block in message.content]
    return message.model_copy(update={"content": content})
