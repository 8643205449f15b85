"""Pictures in the result of a tool, as LangChain's content blocks beside its text."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

Content = str | list[dict[str, Any]]
"""Content of a tool's message: text alone, or a text block and then image blocks."""


def image_block(data: bytes, mime_type: str = "image/png") -> dict[str, Any]:
    """Content block of one picture."""
    return {"type": "image", "base64": b64encode(data).decode(), "mime_type": mime_type}


def with_images(text: str, images: Iterable[dict[str, Any]]) -> Content:
    """The text with the image blocks after it; the text as it is where there are none."""
    blocks = list(images)
    return [{"type": "text", "text": text}, *blocks] if blocks else text
