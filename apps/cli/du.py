"""`clew du`: what the threads weigh."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from dataclasses import asdict

from ...checkpoints.history import ThreadSize, disk_usage
from .existing import open_existing
from .report import size_text
from .table import print_table


def run(arguments: Namespace) -> int:
    """List the bytes of every thread, the largest first, and their total.

    Payloads that several threads use count for each of them.
    """
    sizes = asyncio.run(_sizes(arguments))
    total = sum(size.state + size.payloads for size in sizes)
    if arguments.json:
        print(json.dumps({"threads": [asdict(size) for size in sizes], "total": total}))
    else:
        last = ("total", str(sum(size.checkpoints for size in sizes)), "", "", size_text(total))
        print_table(("thread", "checkpoints", "state", "payloads", "bytes"), [*map(_row, sizes), last])
    return 0


async def _sizes(arguments: Namespace) -> list[ThreadSize]:
    async with open_existing(arguments) as session:
        return await disk_usage(session.saver)


def _row(size: ThreadSize) -> tuple[str, ...]:
    weights = (size.state, size.payloads, size.state + size.payloads)
    return (size.thread, str(size.checkpoints), *map(size_text, weights))
