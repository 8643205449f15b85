"""Pruning many threads at once, by their age."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ..state.errors import ThreadBusy, ThreadUnreadable
from .arrival import clear_abandoned
from .durable import DurableSaver
from .retention import Strategy
from .stored_threads import last_used, stored_threads
from .threads import ThreadRegistry, thread_registry


@dataclass(frozen=True)
class Cleanup:
    """What became of the threads that were to be pruned."""

    pruned: list[str] = field(default_factory=list)
    """Threads that were pruned."""

    busy: list[str] = field(default_factory=list)
    """Threads that are as they were, because a process runs them."""

    refused: dict[str, str] = field(default_factory=dict)
    """Threads that are as they were, because they cannot be pruned, and why."""


async def prune_threads(
    saver: DurableSaver,
    threads: Collection[str] | None = None,
    *,
    older_than: timedelta | None = None,
    strategy: Strategy = "keep_latest",
    newest: int = 1,
    since: datetime | None = None,
) -> Cleanup:
    """Prune the threads that nobody runs; one that cannot be pruned does not keep the others from it.

    Args:
        saver: the open database.
        threads: which; None for all.
        older_than: only those whose newest checkpoint is older than this, or whose record, where they have none.
        strategy: `keep_latest`, `keep_since`, or `delete`, which deletes their records too.
        newest: checkpoints of each namespace that stay in any case.
        since: `keep_since` keeps what was made at this time or later.

    Raises:
        UsageError: an unknown strategy, or one without its argument.
        CheckpointError: the database cannot be read or written.
    """
    registry = thread_registry(saver)
    await clear_abandoned(saver)
    done = Cleanup()
    for thread in await stored_threads(saver):
        if threads is not None and thread not in threads:
            continue
        try:
            if older_than is not None and await last_used(saver, thread) >= datetime.now(UTC) - older_than:
                continue
            await _prune(saver, registry, thread, strategy, newest, since)
        except ThreadBusy:
            done.busy.append(thread)
        except ThreadUnreadable as error:
            done.refused[thread] = str(error)
        else:
            done.pruned.append(thread)
    return done


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
