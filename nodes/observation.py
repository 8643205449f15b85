"""What the model sees of a tool's result: some content always, and never more than the agent's limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from langchain_core.messages import ToolMessage

from .reply import text_of
from .view import cut_middle

OUTPUTS = ".clew/outputs"
"""Folder in the workspace where whole outputs stand that the model sees cut."""


async def observed(result: ToolMessage, limit: int | None, workspace: Path) -> ToolMessage:
    """The result with a text of at most `limit` characters; what was cut is kept in the workspace."""
    text = text_of(result.content)
    if not result.content:
        return result.model_copy(update={"content": f"`{result.name}` completed with no output."})
    if limit is None or len(text) <= limit:
        return result
    kept_in = await asyncio.to_thread(_keep, text, workspace)
    cut = cut_middle(text, limit, kept_in)
    return result.model_copy(
        update={"content": cut if isinstance(result.content, str) else _recut(result.content, cut)}
    )


def _keep(text: str, workspace: Path) -> str:
    name = f"{OUTPUTS}/{sha256(text.encode(errors='surrogateescape')).hexdigest()[:16]}.txt"
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return name


def _recut(blocks: Sequence[str | dict[Any, Any]], text: str) -> list[str | dict[Any, Any]]:
    others = [block for block in blocks if isinstance(block, dict) and block.get("type") != "text"]
    return [{"type": "text", "text": text}, *others]
