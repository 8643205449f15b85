"""How whole threads leave a database: what every saver of ours can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from .thread_parts import Part


class Moving(Protocol):
    """Moves whole threads, each as it is at one moment."""

    async def send(self, thread: str, take: Callable[[Part], None]) -> None:
        """Give the parts of a thread one by one, but not its payloads; what is written meanwhile is not in them.

        Raises:
            UsageError: there is no such thread.
            ThreadUnreadable: a value of it is damaged.
            CheckpointError: the database cannot be read.
        """
        ...
