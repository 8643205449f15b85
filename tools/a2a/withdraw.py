"""Taking back tasks of ours that agents elsewhere still work on."""

from __future__ import annotations

import asyncio

from ...state.errors import ToolFailure
from .client import open_remote

SECONDS = 5.0
"""Seconds that an agent has to cancel a task; whoever stopped the run waits for it."""


async def withdraw(address: str, key: str, task: str) -> str:
    """Cancel a task at an agent elsewhere, and return what a person is told where that failed.

    Args:
        address: Where the agent's card is.
        key: Key that it asks for; empty for none.
        task: Id of the task there.
    """
    try:
        async with asyncio.timeout(SECONDS), open_remote(address, key) as remote:
            await remote.cancel(task)
    except TimeoutError:
        return _left(address, task, f"it does not answer within {SECONDS:g} seconds")
    except ToolFailure as failure:
        return _left(address, task, str(failure))
    return ""


def _left(address: str, task: str, why: str) -> str:
    return f"the task {task} may go on at {address}, where it could not be cancelled: {why}"
