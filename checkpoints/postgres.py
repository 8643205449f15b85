"""The PostgreSQL saver: LangGraph's own, with what its SQLite sister here can do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from contextvars import ContextVar
from datetime import datetime
from threading import get_ident
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncCursor, IsolationLevel
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from . import postgres_retention as retention
from .address import address
from .blobs import SHARE, BlobStore
from .channels import DeltaChannels
from .durable import DurableSaver
from .postgres_database import Connection, Pool, PostgresDatabase, marked, postgres_sentences
from .postgres_moving import PostgresMoving
from .retention import Node, keep, plan_pruning
from .serializer import Protection
from .unreadable import values_of

_INSERT_WRITE = """INSERT INTO checkpoint_writes
    (thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob, run_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (thread_id, checkpoint_ns, checkpoint_id, task_id, idx) DO """

_KEEP = b"NOTHING"
_REPLACE = (
    b"UPDATE SET channel = EXCLUDED.channel, type = EXCLUDED.type, blob = EXCLUDED.blob, run_id = EXCLUDED.run_id"
)


class PostgresCheckpointSaver(AsyncPostgresSaver, DurableSaver):
    """Checkpoints in PostgreSQL, on LangGraph's tables. Bound to the event loop that it was made on.

    The sync calls are for other threads than that of the loop.
    """

    threads_query = retention.THREADS
    sizes_query = retention.SIZES
    inner_messages_query = retention.INNER_MESSAGES

    def __init__(self, pool: Pool, *, protection: Protection, channels: DeltaChannels) -> None:
        """Use an open pool, which the caller closes; `postgres_schema.prepare` makes the tables."""
        super().__init__(pool, serde=protection.serde)
        self.pool = pool
        self.database = PostgresDatabase(pool)
        self.blobs = BlobStore(self.database, protection)
        self.channels = channels
        self.moving = PostgresMoving(self, self._moment)
        self._redactor = protection.redactor
        self._loop_thread = get_ident()
        self._transaction: ContextVar[Connection | None] = ContextVar("transaction", default=None)

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[dict[str, Any]]]:
        """A cursor on a connection of its own, or on that of the transaction around it."""
        with postgres_sentences():
            if connection := self._transaction.get():
                async with connection.cursor(binary=True, row_factory=dict_row) as cursor:
                    yield cursor
                return
            async with (
                self.pool.connection() as connection,
                self._grouped(connection, pipeline),
                connection.cursor(binary=True, row_factory=dict_row) as cursor,
            ):
                yield cursor

    def _grouped(self, connection: Connection, pipeline: bool) -> AbstractAsyncContextManager[Any]:
        if not pipeline:
            return nullcontext()
        return connection.pipeline() if self.supports_pipeline else connection.transaction()

    @asynccontextmanager
    async def _whole(self, thread: str) -> AsyncIterator[Connection]:
        """One transaction, with no other of its kind on the thread, in which all reads of the saver take part."""
        with postgres_sentences():
            async with self.pool.connection() as connection, connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (thread,))
                with self._taking_part(connection):
                    yield connection

    @asynccontextmanager
    async def _moment(self) -> AsyncIterator[Connection]:
        """One transaction that sees the database as it is at its beginning, in which all reads take part."""
        with postgres_sentences():
            async with self.pool.connection() as connection:
                await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
                try:
                    async with connection.transaction():
                        with self._taking_part(connection):
                            yield connection
                finally:
                    await connection.set_isolation_level(None)

    @contextmanager
    def _taking_part(self, connection: Connection) -> Iterator[None]:
        token = self._transaction.set(connection)
        try:
            yield
        finally:
            self._transaction.reset(token)

    async def _load_checkpoint_tuple(self, value: dict[str, Any]) -> CheckpointTuple:
        with values_of(value["thread_id"]):
            return await super()._load_checkpoint_tuple(value)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """What each delta channel was given since its nearest stored value."""
        with values_of(config["configurable"]["thread_id"]):
            return await super().aget_delta_channel_history(config=config, channels=channels)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint. Unlike LangGraph's, texts go through the serialiser too, which masks and encrypts."""
        place = config["configurable"]
        thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
        kept, stored = retention.split(checkpoint["channel_values"])
        versions = {name: version for name, version in new_versions.items() if name in stored}
        blobs = self._dump_blobs(thread, namespace, stored, versions)
        text = json.dumps(get_serializable_checkpoint_metadata(config, metadata))
        row = (
            *(thread, namespace, checkpoint["id"], place.get("checkpoint_id")),
            Jsonb({**checkpoint, "channel_values": kept}),
            Jsonb(json.loads(self._redactor.json(text.encode()))),
        )
        async with self._cursor(pipeline=True) as cursor:
            if blobs:
                await cursor.executemany(self.UPSERT_CHECKPOINT_BLOBS_SQL, blobs)
            await cursor.execute(self.UPSERT_CHECKPOINTS_SQL, row)
        return address(thread, namespace, checkpoint["id"])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint it started from and the run it belongs to."""
        place = config["configurable"]
        where = (str(place["thread_id"]), place.get("checkpoint_ns", ""), str(place["checkpoint_id"]))
        run_id = (config.get("metadata") or {}).get("run_id")
        rows = [(*row, run_id) for row in self._dump_writes(*where, task_id, task_path, writes)]
        special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
        async with self._cursor(pipeline=True) as cursor:
            await cursor.executemany(_INSERT_WRITE.encode() + (_REPLACE if special else _KEEP), rows)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the checkpoints of a thread, its journal, and the payloads that only it used."""
        async with self._whole(thread_id) as connection:
            await retention.delete_thread(connection, thread_id)
        await self.blobs.release(thread_id)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread to a new one, which may use its payloads too."""
        async with self._whole(target_thread_id) as connection:
            await retention.copy_thread(connection, source_thread_id, target_thread_id)
            await connection.execute(marked(SHARE), (target_thread_id, source_thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete what some runs made (by `metadata.run_id`); what other runs built on it keeps its state."""
        for (thread,) in await self.database.fetch(retention.THREADS_OF_RUNS, (list(run_ids), list(run_ids))):
            async with self._whole(thread) as connection:
                nodes = await self.anodes(thread)
                kept, cut = await retention.untouched(connection, thread, nodes, run_ids)
                if kept:
                    await retention.carry_out(self, connection, thread, plan_pruning(nodes, kept, cut))
                    await retention.delete_writes_of_runs(connection, thread, run_ids)
                    await retention.forget_pruned(connection, thread)
                else:
                    await retention.delete_thread(connection, thread)
            if not kept:
                await self.blobs.release(thread)

    async def aprune(
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
                await self.adelete_thread(thread)
                continue
            async with self._whole(thread) as connection:
                nodes = await self.anodes(thread)
                kept = keep(nodes, strategy, newest, since)
                await retention.carry_out(self, connection, thread, plan_pruning(nodes, kept))

    async def anodes(self, thread: str) -> list[Node]:
        """The checkpoints of a thread, without their contents."""
        async with self._cursor() as cursor:
            await cursor.execute(retention.NODES, (thread,))
            return [Node(**row) for row in await cursor.fetchall()]

    async def acompact(self) -> None:
        """Nothing: the server's autovacuum does it."""

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """`acopy_thread`, from another thread."""
        self._from_elsewhere(self.acopy_thread(source_thread_id, target_thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """`adelete_for_runs`, from another thread."""
        self._from_elsewhere(self.adelete_for_runs(run_ids))

    def prune(
        self,
        thread_ids: Sequence[str],
        *,
        strategy: str = "keep_latest",
        newest: int = 1,
        since: datetime | None = None,
    ) -> None:
        """`aprune`, from another thread."""
        self._from_elsewhere(self.aprune(thread_ids, strategy=strategy, newest=newest, since=since))

    def _from_elsewhere(self, work: Coroutine[Any, Any, None]) -> None:
        if get_ident() == self._loop_thread:
            work.close()
            raise asyncio.InvalidStateError(
                "the sync calls of this saver would block its own event loop: use the async"
            )
        asyncio.run_coroutine_threadsafe(work, self.loop).result()
