"""The checkpoints of a thread, as a person names and reads them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..checkpoints.durable import DurableSaver
from ..checkpoints.history import HistoryStep
from ..state.errors import UsageError


async def find_checkpoint(saver: DurableSaver, thread: str, beginning: str) -> str:
    """The id of the one checkpoint of the outermost graph whose id begins so.

    Raises:
        UsageError: there is none, or more than one.
    """
    nodes = await saver.anodes(thread)
    found = [node.id for node in nodes if not node.namespace and node.id.startswith(beginning)]
    if len(found) != 1:
        problem = f"{len(found)} checkpoints begin with {beginning}" if found else f"no checkpoint {beginning}"
        raise UsageError(f"{problem}: `clew history {thread}` lists them")
    return found[0]


def step_data(step: HistoryStep) -> dict[str, Any]:
    """A step as JSON data."""
    return {**asdict(step), "created": step.created.isoformat()}
