"""How whole threads leave a database, come to one and multiply: what every saver of ours can do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, Protocol

from .database import Statement
from .retention import Node
from .thread_parts import Part


class Choice(NamedTuple):
    """What a fork takes of its source."""

    kept: Collection[Node]
    """Checkpoints of the new thread; they keep their state."""

    unanswered: Collection[Node] = ()
    """Those among them at which nothing was written yet."""


class Moving(Protocol):
    """Moves whole threads, each as it is at one moment, and all of it or nothing.

    A process that is killed meanwhile leaves no part of a new thread, but maybe uses of payloads: see `arriving`.
    """

    async def send(self, thread: str, take: Callable[[Part], None]) -> None:
        """Give the parts of a thread one by one, but not its payloads; what is written meanwhile is not in them.

        Raises:
            UsageError: there is no such thread.
            ThreadUnreadable: a value of it is damaged.
            CheckpointError: the database cannot be read.
        """
        ...

    async def receive(self, thread: str, parts: Callable[[], Iterable[Part]], *also: Statement) -> None:
        """Make a thread of parts, whose payloads are there already, and carry out statements with it.

        Args:
            thread: its id.
            parts: gives the parts from the first one on, again where it is called again.
            also: for the same transaction.

        Raises:
            UsageError: there is such a thread.
            CheckpointError: the database cannot be written.
        """
        ...

    async def fork(
        self, source: str, target: str, choose: Callable[[Collection[Node]], Choice], *also: Statement
    ) -> None:
        """Make a thread of some checkpoints of another, which may use its payloads, and carry out statements with it.

        Raises:
            UsageError: there is such a thread, or `choose` says what is wrong.
            ThreadUnreadable: a value that is to be rebuilt is damaged.
            CheckpointError: the database cannot be written.
        """
        ...
