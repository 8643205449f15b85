"""`clew stop`: an end to the task of a thread."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ..control import ask_thread
from .existing import open_existing


def run(arguments: Namespace) -> int:
    """Ask the thread to stop, at any depth of its agents; one that nobody runs ends at once."""
    print(asyncio.run(_stop(arguments)))
    return 0


async def _stop(arguments: Namespace) -> str:
    async with open_existing(arguments) as session:
        return await ask_thread(session, arguments.thread, "stop")
