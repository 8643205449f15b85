"""`clew pause`: a thread that another process runs waits at its next gate."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ..control import ask_thread
from .existing import open_existing


def run(arguments: Namespace) -> int:
    """Ask the thread to pause, at any depth of its agents; `clew resume` goes on with it."""
    print(asyncio.run(_pause(arguments)))
    return 0


async def _pause(arguments: Namespace) -> str:
    async with open_existing(arguments) as session:
        return await ask_thread(session, arguments.thread, "pause")
