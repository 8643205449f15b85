"""The SQLite saver."""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from sqlite3 import Connection
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .address import address
from .blobs import BlobStore, release_inline, share_inline
from .channels import DeltaChannels
from .durable import DurableSaver
from .retention import Node, keep
from .serializer import Protection
from .sqlite_database import Result, SqliteDatabase, transaction
from .sqlite_moving import SqliteMoving
from .sqlite_reading import (
    INNER_MESSAGES,
    PAGE,
    SIZES,
    THREADS,
    read_delta_history,
    read_page,
    read_tuple,
    search,
)
from .sqlite_retention import copy_thread, delete_runs, delete_thread, keep_only, thread_nodes
from .sqlite_writing import INSERT_CHECKPOINT, checkpoint_row, insert_writes, write_rows

Version = int | str


class SqliteCheckpointSaver(DurableSaver):
    """Checkpoints in a SQLite file, with the same calls sync and async.

    The layout is that of LangGraph's own saver and a little more. Channel versions are integers, so that a
    checkpoint stays small; a thread that the stock saver began keeps its strings.
    """

    database: SqliteDatabase
    threads_query = THREADS
    sizes_query = SIZES
    inner_messages_query = INNER_MESSAGES

    def __init__(
        self, database: SqliteDatabase, blob_file: SqliteDatabase, *, protection: Protection, channels: DeltaChannels
    ) -> None:
        """Use two open files, which the caller closes.

        Args:
            database: checkpoints, threads and leases, in the layout of `schema.prepare`.
            blob_file: large payloads, in the layout of `prepare_blobs`.
            protection: how values become bytes.
            channels: the delta channels of the graphs, which pruning must be able to rebuild.
        """
        super().__init__(serde=protection.serde)
        self.database = database
        self.blobs = BlobStore(blob_file, protection)
        self.channels = channels
        self.moving = SqliteMoving(self, database, blob_file, protection.redactor)
        self._blob_file = blob_file
        self._redactor = protection.redactor

    def get_next_version(self, current: Version | None, channel: None = None) -> Version:
        """The version after `current`: 1, 2, 3, … or the stock saver's text where a thread has begun so."""
        if current is None:
            return 1
        if isinstance(current, str):
            return f"{int(current.split('.')[0]) + 1:032}.{0:016}"
        return current + 1

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the newest of its thread; None if there is none."""
        return self.database.run(partial(read_tuple, serde=self.serde, config=config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """`get_tuple`, async."""
        return await self.database.arun(partial(read_tuple, serde=self.serde, config=config))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What each delta channel was given since its nearest stored value."""
        return self.database.run(partial(read_delta_history, serde=self.serde, config=config, channels=channels))

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """`get_delta_channel_history`, async."""
        return await self.database.arun(partial(read_delta_history, serde=self.serde, config=config, channels=channels))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first: of one thread (and namespace), or of all; by metadata; before another."""
        pages = _Pages(self.serde, search(config, filter, before), limit)
        while pages.wanted:
            yield from pages.turned(self.database.run(pages.read))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """`list`, async."""
        pages = _Pages(self.serde, search(config, filter, before), limit)
        while pages.wanted:
            for found in pages.turned(await self.database.arun(pages.read)):
                yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint after the one that the config names, and return the config that names it."""
        row = checkpoint_row(self.serde, self._redactor, config, checkpoint, metadata)
        self.database.run(lambda connection: connection.execute(INSERT_CHECKPOINT, row))
        return address(*row[:3])

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """`put`, async."""
        row = checkpoint_row(self.serde, self._redactor, config, checkpoint, metadata)
        await self.database.arun(lambda connection: connection.execute(INSERT_CHECKPOINT, row))
        return address(*row[:3])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint it started from."""
        rows = write_rows(self.serde, config, writes, task_id, task_path)
        self.database.run(lambda connection: insert_writes(connection, writes, rows))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """`put_writes`, async."""
        rows = write_rows(self.serde, config, writes, task_id, task_path)
        await self.database.arun(lambda connection: insert_writes(connection, writes, rows))

    def delete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a thread, and the payloads that only it used."""
        self.database.run(self._in_transaction(delete_thread, thread_id))
        release_inline(self._blob_file, thread_id)

    async def adelete_thread(self, thread_id: str) -> None:
        """`delete_thread`, async."""
        await self.database.arun(self._in_transaction(delete_thread, thread_id))
        await self.blobs.release(thread_id)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread to a new one, which may use its payloads too."""
        self.database.run(self._in_transaction(self._copy, source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`copy_thread`, async."""
        await self.database.arun(self._in_transaction(self._copy, source_thread_id, target_thread_id))

    def _copy(self, connection: Connection, source: str, target: str) -> None:
        copy_thread(connection, source, target)
        share_inline(self._blob_file, source, target)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what some runs made (by `metadata.run_id`); what other runs built on it keeps its state."""
        for thread in self.database.run(self._in_transaction(delete_runs, self.serde, self.channels, run_ids)):
            release_inline(self._blob_file, thread)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`delete_for_runs`, async."""
        for thread in await self.database.arun(self._in_transaction(delete_runs, self.serde, self.channels, run_ids)):
            await self.blobs.release(thread)

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        newest: int = 1,
        since: datetime | None = None,
    ) -> None:
        """Delete older checkpoints of some threads; see `DurableSaver.aprune`."""
        for thread in thread_ids:
            if strategy == "delete":
                self.delete_thread(thread)
            else:
                self.database.run(self._in_transaction(self._prune, thread, strategy, newest, since))

    async def aprune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        newest: int = 1,
        since: datetime | None = None,
    ) -> None:
        """`prune`, async."""
        for thread in thread_ids:
            if strategy == "delete":
                await self.adelete_thread(thread)
            else:
                await self.database.arun(self._in_transaction(self._prune, thread, strategy, newest, since))

    def _prune(self, connection: Connection, thread: str, strategy: str, newest: int, since: datetime | None) -> None:
        kept = keep(thread_nodes(connection, thread), strategy, newest, since)
        keep_only(connection, self.serde, self.channels, thread, kept)

    async def anodes(self, thread: str) -> builtins.list[Node]:
        """The checkpoints of a thread, without their contents."""
        return await self.database.arun(partial(thread_nodes, thread=thread))

    async def acompact(self) -> None:
        """Give the space of what was deleted back to the disk. Other processes wait meanwhile."""
        await self.database.compact()
        if not self._blob_file.is_missing():
            await self._blob_file.compact()

    @staticmethod
    def _in_transaction(work: Callable[..., Result], *arguments: Any) -> Callable[[Connection], Result]:
        def whole(connection: Connection) -> Result:
            with transaction(connection):
                return work(connection, *arguments)

        return whole


class _Pages:
    """A listing, read page by page so that no cursor stays open between them."""

    def __init__(self, serde: SerializerProtocol, found: tuple[list[str], list[Any]], limit: int | None) -> None:
        self._serde = serde
        self._conditions, self._parameters = found
        self._left = limit
        self._after: tuple[str, str, str] | None = None
        self.wanted = limit is None or limit > 0

    def read(self, connection: Connection) -> list[CheckpointTuple]:
        conditions, parameters = self._conditions, self._parameters
        if self._after:
            conditions = [
                *conditions,
                "(checkpoint_id < ? OR checkpoint_id = ? AND (thread_id, checkpoint_ns) > (?, ?))",
            ]
            parameters = [*parameters, self._after[0], *self._after]
        where = "WHERE " + " AND ".join(conditions) if conditions else ""
        return read_page(connection, self._serde, where, parameters, self._size)

    @property
    def _size(self) -> int:
        return PAGE if self._left is None else min(PAGE, self._left)

    def turned(self, page: list[CheckpointTuple]) -> list[CheckpointTuple]:
        size = self._size
        if self._left is not None:
            self._left -= len(page)
        self.wanted = len(page) == size and self._left != 0
        if page:
            place = page[-1].config["configurable"]
            self._after = (place["checkpoint_id"], place["thread_id"], place["checkpoint_ns"])
        return page
