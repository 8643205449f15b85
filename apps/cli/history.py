"""`clew history`: the steps of a thread."""

from __future__ import annotations

import asyncio
import json
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence

from ...checkpoints.history import HistoryStep, thread_history
from ..history import step_data
from .existing import open_existing
from .report import brief, size_text
from .table import print_table

COLUMNS = ("checkpoint", "step", "time", "node", "tool", "duration", "tokens", "size")


def run(arguments: Namespace) -> int:
    """List the steps, the newest first, each with the checkpoint that it ended in; `clew fork` takes any of them."""
    steps = asyncio.run(_steps(arguments))
    if arguments.json:
        for step in steps:
            print(json.dumps(step_data(step)))
    else:
        print_table(COLUMNS, [_row(step) for step in steps])
    return 0


async def _steps(arguments: Namespace) -> list[HistoryStep]:
    async with open_existing(arguments) as session:
        record = await session.registry.get(arguments.thread)
        return await thread_history(session.saver, record.thread, arguments.limit)


def _row(step: HistoryStep) -> tuple[str, ...]:
    return (
        step.checkpoint,
        str(step.step),
        step.created.astimezone().strftime("%H:%M:%S"),
        _counted(step.nodes) or step.source,
        brief(_counted(step.tools), 60),
        "" if step.seconds is None else f"{step.seconds:.2f} s",
        str(step.tokens or ""),
        size_text(step.size),
    )


def _counted(names: Sequence[str]) -> str:
    """The names, each once: `bash, editor x2`."""
    counts = Counter(name.strip("_") for name in names)
    return ", ".join(name if count == 1 else f"{name} x{count}" for name, count in counts.items())
