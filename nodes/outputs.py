"""Copies of long outputs that a call may need, and that are not in the workspace of a run that was moved."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AnyMessage, ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig

from ..tools.kept_outputs import NAMES, PLACE, missing_copies, restore_copies
from ..tools.run_services import RunServices
from ..tools.workspace import Workspace
from .once import run_saver


def named_outputs(call: ToolCall, history: Sequence[AnyMessage]) -> list[str]:
    """The copies that a call may look for, if it names their folder: those it names, and all that were told of."""
    named = [text for text in _texts(call["args"]) if PLACE in text]
    if not named:
        return []
    told = [message.text for message in history if isinstance(message, ToolMessage) and PLACE in message.text]
    return list(dict.fromkeys(found[0] for text in [*named, *told] for found in NAMES.finditer(text)))


async def restore_outputs(files: Sequence[str], workspace: Path, config: RunnableConfig, services: RunServices) -> None:
    """Write those of the copies again that are missing and whose payloads the thread has.

    Raises:
        CheckpointError: a payload cannot be read.
    """
    saver, thread = run_saver(config), config.get("configurable", {}).get("thread_id")
    if saver is None or thread is None:
        return
    place = Workspace(await asyncio.to_thread(workspace.resolve))
    if missing := await asyncio.to_thread(missing_copies, files, place):
        await restore_copies(missing, place, await saver.blobs.references(str(thread)), services)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
