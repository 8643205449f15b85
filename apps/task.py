"""A task in a person's words and pictures, as the input of a graph."""

from __future__ import annotations

import base64
import mimetypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import HumanMessage

from ..state.errors import UsageError


def task_input(text: str, images: Sequence[Path] = ()) -> dict[str, Any]:
    """The input of a task: one human message, with its images as base64 content blocks.

    Raises:
        UsageError: an image cannot be read, or is none.
    """
    if not images:
        return {"messages": [HumanMessage(text)]}
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": text}, *map(_image, images)]
    return {"messages": [HumanMessage(blocks)]}


def _image(path: Path) -> dict[str, str]:
    kind = mimetypes.guess_type(path.name)[0] or ""
    if not kind.startswith("image/"):
        raise UsageError(f"{path} is no image: give a PNG, JPEG, GIF or WebP file")
    try:
        data = base64.b64encode(path.read_bytes()).decode()
    except OSError as error:
        raise UsageError(f"image {path} cannot be read: {error.strerror}") from error
    return {"type": "image", "base64": data, "mime_type": kind}
