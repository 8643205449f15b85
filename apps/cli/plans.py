"""`clew plans`: the plan library."""

from __future__ import annotations

import asyncio
from argparse import Namespace

from ...checkpoints.open_plans import list_plans
from ...checkpoints.plans import PlanEntry
from ...state.settings import load_settings
from .existing import refuse_missing
from .report import brief
from .table import print_table


def run(arguments: Namespace) -> int:
    """List the plans, the one changed last first, with the thread that carries each out."""
    entries = asyncio.run(_entries(arguments))
    if arguments.json:
        for entry in entries:
            print(entry.model_dump_json())
    elif entries:
        print_table(("plan", "thread", "changed", "progress", "title"), [_row(entry) for entry in entries])
    else:
        print('no plans yet: make one with `clew plan "…"`')
    return 0


async def _entries(arguments: Namespace) -> list[PlanEntry]:
    settings = load_settings(db=arguments.db)
    refuse_missing(arguments)
    return await list_plans(settings.database, patience=settings.db_wait)


def _row(entry: PlanEntry) -> tuple[str, ...]:
    changed = entry.updated.astimezone().strftime("%Y-%m-%d %H:%M")
    return (entry.plan.id, entry.thread or "none", changed, entry.plan.progress(), brief(entry.plan.title, 60))
