"""The view that condensers have settled, applied to the messages of a request."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage

from ..models.vision import is_image
from ..prompts.load import load_prompt
from ..state.condensation import Condensation


def summary_message(condensed: Condensation) -> list[AnyMessage]:
    """The message that stands for the part that is left out; none where nothing does."""
    return [HumanMessage(load_prompt("condensed", summary=condensed["summary"]))] if condensed["summary"] else []


def masked(messages: Sequence[AnyMessage], place: int, condensed: Condensation) -> list[AnyMessage]:
    """The messages of a group that begins at `place`, with markers for what is masked."""
    if place >= max(condensed["results"], condensed["images"]):
        return list(messages)
    return [
        _masked(message, results=place < condensed["results"]) if isinstance(message, ToolMessage) else message
        for message in messages
    ]


def _masked(message: ToolMessage, *, results: bool) -> ToolMessage:
    if results:
        marker = load_prompt("masked_result", characters=str(len(message.text)))
        is_short = len(message.text) <= len(marker) and isinstance(message.content, str)
        return message if is_short else message.model_copy(update={"content": marker})
    if isinstance(message.content, str) or not any(map(is_image, message.content)):
        return message
    marker = load_prompt("masked_image")
    blocks = [{"type": "text", "text": marker} if is_image(block) else block for block in message.content]
    return message.model_copy(update={"content": blocks})
