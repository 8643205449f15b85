"""`clew import`: a thread from a file."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace

from ...state.settings import load_settings
from ...state.thread import ThreadRecord
from ..moving import import_from
from ..session import open_session
from ..view import ThreadView
from .closing import command
from .threads import standing, thread_data


def run(arguments: Namespace) -> int:
    """Read a thread that `clew export` wrote, and say where it stands."""
    record, view = asyncio.run(_import(arguments))
    if arguments.json:
        print(json.dumps(thread_data(record, view), ensure_ascii=False))
    else:
        name = "resume" if view.unfinished else "show"
        print(f"{record.thread} is here, {standing(view)}: {command(name, record.thread, arguments)}")
    return 0


async def _import(arguments: Namespace) -> tuple[ThreadRecord, ThreadView]:
    async with open_session(load_settings(db=arguments.db)) as session:
        record = await import_from(session, arguments.file, arguments.thread)
        return record, await session.view(record)
