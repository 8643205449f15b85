"""Pruning many threads at once, by their age."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from ..state.errors import ThreadBusy
from .durable import DurableSaver
from .retention import Strategy, made
from .threads import ThreadRegistry, thread_registry


async def prune_threads(
    saver: DurableSaver,
    threads: Collection[str] | None = None,
    *,
    older_than: timedelta | None = None,
    strategy: Strategy = "keep_latest",
    newest: int = 1,
    since: datetime | None = None,
) -> list[str]:
    """Prune the threads that nobody runs, and return which.

    Args:
        saver: the open database.
        threads: which; None for all.
        older_than: only those whose newest checkpoint is older than this.
        strategy: `keep_latest`, `keep_since`, or `delete`, which deletes their records too.
        newest: checkpoints of each namespace that stay in any case.
        since: `keep_since` keeps what was made at this time or later.

    Raises:
        UsageError: an unknown strategy, or one without its argument.
        CheckpointError: a thread has a delta channel whose reducer is unknown; it stays as it was.
    """
    registry = thread_registry(saver)
    known = await saver.database.fetch("SELECT DISTINCT thread_id FROM checkpoints ORDER BY thread_id")
    pruned = []
    for (thread,) in known:
        if threads is not None and thread not in threads:
            continue
        if older_than is None or await _is_older(saver, thread, older_than):
            try:
                await _prune(saver, registry, thread, strategy, newest, since)
            except ThreadBusy:
                continue
            pruned.append(thread)
    return pruned


async def _is_older(saver: DurableSaver, thread: str, age: timedelta) -> bool:
    return max(made(node.id) for node in await saver.anodes(thread)) < datetime.now(UTC) - age


async def _prune(
    saver: DurableSaver,
    registry: ThreadRegistry,
    thread: str,
    strategy: Strategy,
    newest: int,
    since: datetime | None,
) -> None:
    async with registry.lease(thread, "a pruning"):
        await saver.aprune([thread], strategy=strategy, newest=newest, since=since)
        if strategy == "delete":
            await saver.database.write(("DELETE FROM threads WHERE thread = ?", (thread,)))
