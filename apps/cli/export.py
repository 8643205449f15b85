"""`clew export`: a thread as one file."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from pathlib import Path

from ...checkpoints.export import export_thread
from ...state.errors import UsageError
from ...state.settings import folder_name
from ...state.trajectory import Trajectory, write_trajectory
from ..trajectories import thread_trajectory
from .existing import open_existing
from .report import plural, size_text


def run(arguments: Namespace) -> int:
    """Write the thread with its record, checkpoints and payloads to a new file, or its run as a trajectory.

    Its workspace is no part of either.
    """
    if arguments.trajectory:
        return _export_trajectory(arguments, arguments.trajectory)
    file = arguments.file or Path(f"{folder_name(arguments.thread)}.clew")
    size = asyncio.run(_export(arguments, file))
    if arguments.json:
        print(json.dumps({"thread": arguments.thread, "file": str(file), "bytes": size}))
    else:
        print(
            f"wrote thread {arguments.thread} to {file} ({size_text(size)}); go on elsewhere with: clew import {file}"
        )
    return 0


def _export_trajectory(arguments: Namespace, file: Path) -> int:
    if arguments.file:
        raise UsageError("name one file: FILE for the whole thread, or --trajectory FILE for its run")
    trajectory = asyncio.run(_trajectory(arguments))
    size = write_trajectory(trajectory, file)
    if arguments.json:
        data = {"thread": arguments.thread, "file": str(file), "bytes": size, "events": len(trajectory.events)}
        print(json.dumps(data))
    else:
        events = plural(len(trajectory.events), "event")
        print(f"wrote {events} of thread {arguments.thread} to {file}; do them again with: clew replay {file}")
    return 0


async def _trajectory(arguments: Namespace) -> Trajectory:
    async with open_existing(arguments) as session:
        return await thread_trajectory(session, await session.registry.get(arguments.thread))


async def _export(arguments: Namespace, file: Path) -> int:
    async with open_existing(arguments) as session:
        return await export_thread(session.saver, arguments.thread, file)
