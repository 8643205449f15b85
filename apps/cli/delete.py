"""`clew delete`: a thread less."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ...state.errors import ThreadUnreadable
from ..working_copies import remove_working_copies, working_copies
from .existing import open_existing


def run(arguments: Namespace) -> int:
    """Delete the thread with its record, all its checkpoints and its long outputs; what it made stays."""
    place = asyncio.run(_delete(arguments))
    print(f"deleted thread {arguments.thread}; its files stay in {place}")
    return 0


async def _delete(arguments: Namespace) -> str:
    async with open_existing(arguments) as session:
        try:
            record = await session.registry.find(arguments.thread)
            place = str(record.workspace) if record else "its workspace, which no record tells"
        except ThreadUnreadable:
            place = "its workspace, which its record no longer tells"
        copies = await working_copies(session, [arguments.thread])
        await session.registry.delete(arguments.thread)
        await remove_working_copies(session, copies, [arguments.thread])
        return place
