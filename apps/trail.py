"""The trail of a thread for people: its steps, each with what the agent said, did and got, and the pictures of it."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from ..checkpoints.blobs import BlobStore
from ..nodes.schedule import EXECUTE
from ..state.errors import CheckpointError, ToolFailure
from ..tools.workspace import Workspace

PICTURE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types of pictures that a page may show; none of them can hold a script."""

LARGEST_PICTURE = 20_000_000
"""Bytes of a picture's file."""

LONGEST_TITLE = 120
"""Characters of a task in the title of a run inside of the thread."""


@dataclass(frozen=True)
class Call:
    """One call of a tool, with its result."""

    name: str
    """Name of the tool."""

    arguments: dict[str, Any]
    """As the model gave them."""

    result: str = ""
    """What the model was told."""

    status: str = "open"
    """`success`, `error`, or `open` while there is no result."""

    pictures: list[str] = field(default_factory=list)
    """Each as a `data:` address."""


@dataclass(frozen=True)
class Step:
    """One entry of the trail."""

    role: str
    """`person`, `agent` or `note`, which is clew's own word to the agent."""

    text: str
    """What was said."""

    calls: list[Call] = field(default_factory=list)
    """Of an agent: what it did."""

    pictures: list[str] = field(default_factory=list)
    """Of a person: what came with the task."""


async def thread_trail(messages: Sequence[AnyMessage], workspace: str | None, blobs: BlobStore) -> list[Step]:
    """The steps of a history, in order.

    Args:
        messages: The history of a thread.
        workspace: Folder of the run's files, in which pictures of steps are kept.
        blobs: Where the pictures of results are.
    """
    pictures = Pictures(Path(workspace) if workspace else None, blobs)
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    return [
        await _step(message, results, pictures) for message in messages if isinstance(message, AIMessage | HumanMessage)
    ]


def run_title(path: str, steps: Sequence[Step]) -> str:
    """Title for the trail of a run inside of a thread: its nodes, and its task in one line."""
    lines = steps[0].text.splitlines() if steps else []
    if not lines:
        return path
    # What a step of a plan is told begins with the plan and ends with the step.
    line = lines[-1] if path.rpartition("/")[2].startswith(EXECUTE) else lines[0]
    return f"{path}: {line if len(line) <= LONGEST_TITLE else line[:LONGEST_TITLE] + '…'}"


async def _step(message: AnyMessage, results: dict[str, ToolMessage], pictures: Pictures) -> Step:
    if isinstance(message, AIMessage):
        calls = [
            await _call(call["name"], call["args"], results.get(call["id"] or ""), pictures)
            for call in message.tool_calls
        ]
        return Step("agent", message.text.strip(), calls)
    role = "note" if message.additional_kwargs.get("note") else "person"
    return Step(role, message.text.strip(), pictures=await pictures.of(message))


async def _call(name: str, arguments: dict[str, Any], result: ToolMessage | None, pictures: Pictures) -> Call:
    if result is None:
        return Call(name, arguments)
    return Call(name, arguments, result.text.strip(), result.status, await pictures.of(result))


class Pictures:
    """Finds the pictures of messages: in them, in the blobs, or in the workspace."""

    def __init__(self, workspace: Path | None, blobs: BlobStore) -> None:
        self._workspace, self._blobs = workspace, blobs

    async def of(self, message: AnyMessage) -> list[str]:
        """The pictures of a message, each as a `data:` address. What is gone is left out."""
        blocks = [block for block in message.content if isinstance(block, dict) and block.get("type") == "image"]
        found = [await self._in_block(block) for block in blocks]
        artifact = message.artifact if isinstance(message, ToolMessage) else None
        if isinstance(artifact, dict) and isinstance(path := artifact.get("screenshot"), str):
            found.append(await asyncio.to_thread(self._in_workspace, path))
        return [picture for picture in found if picture]

    async def _in_block(self, block: dict[str, Any]) -> str | None:
        kind = block.get("mime_type", "image/png")
        if isinstance(data := block.get("base64"), str):
            return _address(b64decode(data), kind)
        if not isinstance(reference := block.get("blob"), str):
            return None
        try:
            return _address(await self._blobs.get(reference), kind)
        except CheckpointError:
            # The thread was moved here without its payloads.
            return None

    def _in_workspace(self, path: str) -> str | None:
        # The path comes from a checkpoint, which may be a stranger's: it must not lead out of the workspace.
        if self._workspace is None or not self._workspace.is_dir():
            return None
        try:
            file = Workspace(self._workspace.resolve()).resolve(path)
        except ToolFailure:
            return None
        if not file.is_file() or file.stat().st_size > LARGEST_PICTURE:
            return None
        return _address(file.read_bytes(), "image/jpeg")


def _address(data: bytes, kind: str) -> str | None:
    return f"data:{kind};base64,{b64encode(data).decode()}" if kind in PICTURE_TYPES else None


def argument_lines(arguments: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and value of each argument that is given, as a person reads them."""
    for name, value in arguments.items():
        if value is not None:
            yield name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
