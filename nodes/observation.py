"""What the model sees of a tool's result: some content always, and never more than the agent's limit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import ToolMessage

from ..tools.kept_outputs import NAMES, KeptOutput, keep_output
from ..tools.run_services import RunServices
from ..tools.workspace import Workspace
from .reply import text_of
from .view import cut_middle

OUTPUT = "output"
"""Key of a cut result's `additional_kwargs` with a `KeptOutput`: where the whole is."""


async def observed(result: ToolMessage, limit: int | None, workspace: Path, services: RunServices) -> ToolMessage:
    """The result with a text of at most `limit` characters; what was cut is kept with the thread.

    Raises:
        CheckpointError: it cannot be stored.
    """
    text = text_of(result.content)
    if not result.content:
        return result.model_copy(update={"content": f"`{result.name}` completed with no output."})
    if limit is None or len(text) <= limit:
        return result
    if kept_by_tool := _kept_by_tool(result):
        return result.model_copy(update={"content": _recut(result.content, cut_middle(text, limit, kept_by_tool))})
    kept = await _keep(text, result.name or "tool", workspace, services)
    cut = _recut(result.content, cut_middle(text, limit, kept.file or ""))
    return result.model_copy(
        update={"content": cut, "additional_kwargs": {**result.additional_kwargs, OUTPUT: kept._asdict()}}
    )


def _kept_by_tool(result: ToolMessage) -> str | None:
    # What the tool kept is more than what it said: no second copy is made of that.
    file = result.artifact.get("output_file") if isinstance(result.artifact, dict) else None
    return file if isinstance(file, str) and NAMES.fullmatch(file) else None


async def _keep(text: str, tool: str, workspace: Path, services: RunServices) -> KeptOutput:
    root = await asyncio.to_thread(_made, workspace)
    return await keep_output(text, tool, Workspace(root), services)


def _made(workspace: Path) -> Path:
    workspace.mkdir(mode=0o700, parents=True, exist_ok=True)
    return workspace.resolve()


def _recut(content: str | Sequence[str | dict[Any, Any]], text: str) -> str | list[str | dict[Any, Any]]:
    if isinstance(content, str):
        return text
    others = [block for block in content if isinstance(block, dict) and block.get("type") != "text"]
    return [{"type": "text", "text": text}, *others]
