"""`clew fork`: back to a checkpoint, on the same thread or a new one."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace

from ...state.thread import ThreadRecord
from ..history import find_checkpoint
from ..moving import fork_to
from ..view import ThreadView
from .closing import command
from .existing import open_existing
from .threads import standing, thread_data


def run(arguments: Namespace) -> int:
    """Begin a new thread at the checkpoint; without a name for it, set the thread itself back.

    What came after the checkpoint stays in the thread's history and can be forked in turn.
    """
    record, view = asyncio.run(_fork(arguments))
    if arguments.json:
        print(json.dumps(thread_data(record, view), ensure_ascii=False))
        return 0
    name = "resume" if view.unfinished else "show"
    print(f"{record.thread} stands at {view.checkpoint}, {standing(view)}: {command(name, record.thread, arguments)}")
    if arguments.to:
        print(f"its files are those of {arguments.thread}, in {record.workspace}")
    return 0


async def _fork(arguments: Namespace) -> tuple[ThreadRecord, ThreadView]:
    async with open_existing(arguments) as session:
        record = await session.registry.get(arguments.thread)
        checkpoint = await find_checkpoint(session.saver, record.thread, arguments.at)
        if arguments.to is None:
            return record, await session.fork(record, checkpoint)
        record = await fork_to(session, record, checkpoint, arguments.to)
        return record, await session.view(record)
