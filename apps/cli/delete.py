"""`clew delete`: a thread less."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ...state.settings import load_settings
from ..session import open_session


def run(arguments: Namespace) -> int:
    """Delete the thread with its record and all its checkpoints; the files of its workspace stay."""
    workspace = asyncio.run(_delete(arguments))
    print(f"deleted thread {arguments.thread}; its files stay in {workspace}")
    return 0


async def _delete(arguments: Namespace) -> str | None:
    async with open_session(load_settings(db=arguments.db)) as session:
        record = await session.registry.get(arguments.thread)
        await session.registry.delete(record.thread)
        return record.workspace
