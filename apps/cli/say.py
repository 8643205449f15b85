"""`clew say`: a word to the agent of a thread while it works."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ..control import ask_thread
from .existing import open_existing


def run(arguments: Namespace) -> int:
    """Give the agents of the thread that are at work a message, which each reads before its next think."""
    print(asyncio.run(_say(arguments)))
    return 0


async def _say(arguments: Namespace) -> str:
    async with open_existing(arguments) as session:
        return await ask_thread(session, arguments.thread, "say", arguments.text)
