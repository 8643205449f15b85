"""What every saver of ours can do beyond LangGraph's interface."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from .database import Database

if TYPE_CHECKING:  # every node asks whether a saver is one of ours, and few open one
    from .blobs import BlobStore
    from .channels import DeltaChannels
    from .moving import Moving
    from .retention import Node


class DurableSaver(BaseCheckpointSaver[Any]):
    """A saver whose threads can be listed, measured, cut and moved, whatever its database."""

    database: Database
    """Where the checkpoints are, and the threads and leases."""

    blobs: BlobStore
    """The large payloads of the threads."""

    channels: DeltaChannels
    """The delta channels that pruning can rebuild."""

    threads_query: str
    """SQL that gives the ids of the threads that have checkpoints or writes."""

    sizes_query: str
    """SQL that gives thread, namespace, checkpoint and bytes of everything stored; its rows are to be summed."""

    inner_messages_query: str
    """SQL that gives checkpoint, task path, type and value of the messages that graphs in the nodes of a thread wrote.

    Its parameters are the thread and a checkpoint that all of them come after.
    """

    moving: Moving
    """How whole threads leave the database, come to it and multiply."""

    @abstractmethod
    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        newest: int = 1,
        since: datetime | None = None,
    ) -> None:
        """Delete older checkpoints of some threads; those that stay keep their whole state.

        Args:
            thread_ids: the threads.
            strategy: `keep_latest`, `keep_since` or `delete` (all).
            newest: checkpoints of each namespace that stay in any case.
            since: `keep_since` keeps what was made at this time or later.

        Raises:
            UsageError: an unknown strategy, or one without its argument.
            ThreadUnreadable: a thread is of a graph whose reducers are not known; it stays as it was.
        """

    @abstractmethod
    async def anodes(self, thread: str) -> list[Node]:
        """The checkpoints of a thread, without their contents."""

    @abstractmethod
    async def acompact(self) -> None:
        """Give the space of what was deleted back to the disk, where the database does not do so by itself."""
