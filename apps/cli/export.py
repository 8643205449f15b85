"""`clew export`: a thread as one file."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from pathlib import Path

from ...checkpoints.export import export_thread
from ...state.settings import folder_name, load_settings
from ..session import open_session
from .report import size_text


def run(arguments: Namespace) -> int:
    """Write the thread with its record, checkpoints and payloads to a new file; its workspace is no part of it."""
    file = arguments.file or Path(f"{folder_name(arguments.thread)}.clew")
    size = asyncio.run(_export(arguments, file))
    if arguments.json:
        print(json.dumps({"thread": arguments.thread, "file": str(file), "bytes": size}))
    else:
        print(
            f"wrote thread {arguments.thread} to {file} ({size_text(size)}); go on elsewhere with: clew import {file}"
        )
    return 0


async def _export(arguments: Namespace, file: Path) -> int:
    async with open_session(load_settings(db=arguments.db)) as session:
        return await export_thread(session.saver, arguments.thread, file)
