"""Pruning of threads: what it will delete, and what it freed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

from ..checkpoints.cleanup import prune_threads
from ..checkpoints.history import ThreadSize, disk_usage
from ..checkpoints.retention import Strategy, keep
from ..checkpoints.stored_threads import last_used
from ..state.errors import ThreadUnreadable
from .session import Session
from .working_copies import remove_working_copies, working_copies


@dataclass(frozen=True)
class Rule:
    """What is to be pruned, and what is to stay."""

    threads: Sequence[str] = ()
    """Which threads; empty for all."""

    older_than: timedelta | None = None
    """Only threads whose newest checkpoint is older, or whose record, where they have none."""

    strategy: Strategy = "keep_latest"
    """As `prune_threads` takes it."""

    newest: int = 1
    """Checkpoints of each thread that stay in any case."""

    since: datetime | None = None
    """What was made at this time or later stays too."""


@dataclass(frozen=True)
class ThreadPruning:
    """What a pruning does to one thread."""

    thread: str
    """Id of the thread."""

    checkpoints: int
    """Checkpoints that it has, those of subgraphs included."""

    deleted: int
    """How many of them go."""

    before: int
    """Bytes that the thread takes, with its payloads."""


@dataclass(frozen=True)
class PruningResult:
    """What a pruning did."""

    pruned: list[ThreadPruning]
    """Threads that lost checkpoints."""

    busy: list[str]
    """Threads that were left as they were, because a process runs them."""

    refused: dict[str, str]
    """Threads that were left as they were, because they cannot be pruned, and why."""

    freed: int
    """Bytes that the threads take less than before."""


async def foresee(session: Session, rule: Rule) -> list[ThreadPruning]:
    """What the rule would delete; threads that it leaves as they are are not named.

    Raises:
        UsageError: there is no such thread.
    """
    sizes = {size.thread: size for size in await disk_usage(session.saver)}
    for thread in rule.threads:
        if thread not in sizes:
            await session.registry.get(thread)
    chosen = [size for size in sizes.values() if not rule.threads or size.thread in rule.threads]
    found = [await _foreseen(session, size, rule) for size in chosen if await _is_old(session, size.thread, rule)]
    return [pruning for pruning in found if pruning is not None]


async def prune(session: Session, rule: Rule, foreseen: Sequence[ThreadPruning]) -> PruningResult:
    """Prune the threads that were foreseen and that nobody runs, and give the space back to the disk.

    Raises:
        CheckpointError: the database is in use for too long.
    """
    wanted = [pruning.thread for pruning in foreseen]
    copies = await working_copies(session, wanted if rule.strategy == "delete" else [])
    done = await prune_threads(
        session.saver,
        wanted,
        older_than=rule.older_than,
        strategy=rule.strategy,
        newest=rule.newest,
        since=rule.since,
    )
    after = {size.thread: _bytes(size) for size in await disk_usage(session.saver)}
    if done.pruned:
        await remove_working_copies(session, copies, done.pruned)
        await session.saver.acompact()
    pruned = [pruning for pruning in foreseen if pruning.thread in done.pruned]
    freed = sum(pruning.before - after.get(pruning.thread, 0) for pruning in pruned)
    used = [thread for thread in wanted if thread not in (*done.pruned, *done.refused)]
    return PruningResult(pruned, used, done.refused, freed)


def pruning_data(result: PruningResult) -> dict[str, object]:
    """What a pruning did as JSON data."""
    return asdict(result)


async def _is_old(session: Session, thread: str, rule: Rule) -> bool:
    return rule.older_than is None or await last_used(session.saver, thread) < datetime.now(UTC) - rule.older_than


async def _foreseen(session: Session, size: ThreadSize, rule: Rule) -> ThreadPruning | None:
    try:
        nodes = await session.saver.anodes(size.thread)
    except ThreadUnreadable:
        # It can be deleted. To prune it otherwise is refused when it is tried.
        deleted = size.checkpoints if rule.strategy == "delete" else 0
        return ThreadPruning(size.thread, size.checkpoints, deleted, _bytes(size))
    deleted = len(nodes) - len(keep(nodes, rule.strategy, rule.newest, rule.since))
    if not deleted and rule.strategy != "delete":
        return None
    return ThreadPruning(size.thread, len(nodes), deleted, _bytes(size))


def _bytes(size: ThreadSize) -> int:
    return size.state + size.payloads
