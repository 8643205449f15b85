"""`clew prune`: older checkpoints less."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from datetime import UTC, datetime

from ...checkpoints.retention import Strategy
from ...state.errors import UsageError
from ..pruning import PruningResult, Rule, ThreadPruning, foresee, prune, pruning_data
from .existing import open_existing
from .report import plural, size_text
from .table import print_table


def run(arguments: Namespace) -> int:
    """Say what will be deleted, ask on a terminal, delete it, and say what that freed."""
    rule = _rule(arguments)
    foreseen = asyncio.run(_foresee(arguments, rule))
    if not arguments.json:
        _announce(foreseen, rule)
    if foreseen and not arguments.yes and sys.stdin.isatty() and not _confirmed(foreseen):
        print("nothing was deleted", file=sys.stderr)
        return 0
    result = asyncio.run(_prune(arguments, rule, foreseen))
    if arguments.json:
        print(json.dumps(pruning_data(result)))
    else:
        _tell(result)
    for reason in result.refused.values():
        print(f"clew: {reason}; it was left as it was", file=sys.stderr)
    return 1 if result.refused else 0


def _rule(arguments: Namespace) -> Rule:
    """What the arguments say.

    Raises:
        UsageError: they say nothing.
    """
    strategy: Strategy = "delete" if arguments.delete else "keep_since" if arguments.keep_since else "keep_latest"
    stated = arguments.threads or arguments.older_than or arguments.keep_latest or arguments.keep
    if not stated and strategy == "keep_latest":
        raise UsageError("say what to prune: threads, or --keep-latest, --keep, --keep-since, --older-than, --delete")
    return Rule(
        threads=arguments.threads,
        older_than=arguments.older_than,
        strategy=strategy,
        newest=arguments.keep or 1,
        since=datetime.now(UTC) - arguments.keep_since if arguments.keep_since else None,
    )


async def _foresee(arguments: Namespace, rule: Rule) -> list[ThreadPruning]:
    async with open_existing(arguments) as session:
        return await foresee(session, rule)


async def _prune(arguments: Namespace, rule: Rule, foreseen: Sequence[ThreadPruning]) -> PruningResult:
    async with open_existing(arguments) as session:
        return await prune(session, rule, foreseen)


def _announce(foreseen: Sequence[ThreadPruning], rule: Rule) -> None:
    if not foreseen:
        print("nothing to prune")
        return
    rows = [(each.thread, str(each.checkpoints), str(each.deleted), size_text(each.before)) for each in foreseen]
    print_table(("thread", "checkpoints", "to delete", "bytes"), rows)
    if rule.strategy == "delete":
        print("these threads go with their records; the files of their workspaces stay")


def _confirmed(foreseen: Sequence[ThreadPruning]) -> bool:
    print(f"delete {_amount(foreseen)}? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell(result: PruningResult) -> None:
    for thread in result.busy:
        print(f"{thread} is being run, or was used meanwhile: left as it was")
    if result.pruned:
        print(f"deleted {_amount(result.pruned)}; freed {size_text(max(result.freed, 0))}")


def _amount(prunings: Sequence[ThreadPruning]) -> str:
    deleted = sum(each.deleted for each in prunings)
    return f"{plural(deleted, 'checkpoint')} of {plural(len(prunings), 'thread')}"
