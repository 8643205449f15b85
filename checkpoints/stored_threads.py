"""Of which threads a database holds anything, and when each was used last."""

from __future__ import annotations

from datetime import UTC, datetime

from ..state.errors import ThreadUnreadable
from .durable import DurableSaver
from .retention import made

NEVER = datetime.max.replace(tzinfo=UTC)
"""A time that is not older than any other."""

_NAMES = "SELECT thread FROM threads UNION SELECT thread FROM journal UNION SELECT thread FROM inbox UNION {query}"


async def stored_threads(saver: DurableSaver) -> list[str]:
    """The ids of all threads that have a record, a checkpoint, a payload or anything else, in their order."""
    return sorted({*await threads_without_payloads(saver), *await saver.blobs.sizes()})


async def threads_without_payloads(saver: DurableSaver) -> set[str]:
    """`stored_threads` but for those of which there are only payloads."""
    return {str(thread) for (thread,) in await saver.database.fetch(_NAMES.format(query=saver.threads_query))}


async def last_used(saver: DurableSaver, thread: str) -> datetime:
    """When the newest checkpoint of a thread was made, or its record was kept; what does not tell counts as new."""
    try:
        nodes = await saver.anodes(thread)
    except ThreadUnreadable:
        return NEVER
    if nodes:
        return max(made(node.id) for node in nodes)
    rows = await saver.database.fetch("SELECT updated FROM threads WHERE thread = ?", (thread,))
    try:
        return max(datetime.fromisoformat(updated).astimezone(UTC) for (updated,) in rows)
    except (ValueError, TypeError):
        return NEVER
