"""The place for a thread that is to come: from a file, or from another thread."""

from __future__ import annotations

from .durable import DurableSaver
from .retention import taken
from .threads import thread_registry


async def refuse_existing(saver: DurableSaver, thread: str) -> None:
    """Refuse the name of a thread that there is, with or without a record.

    Raises:
        UsageError: it is taken.
    """
    if thread in await thread_registry(saver).names() or await saver.anodes(thread):
        raise taken(thread)
