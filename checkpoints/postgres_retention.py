"""How the PostgreSQL saver deletes, prunes and copies, within a transaction of its caller."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from langgraph.checkpoint.serde.types import _DeltaSnapshot
from psycopg.types.json import Jsonb

from .address import address
from .durable import DurableSaver
from .inbox import FORGET_INBOX
from .journal import COPY_PENDING, FORGET_PRUNED, FORGET_THREAD
from .postgres_database import Connection, marked
from .retention import Node, Pruning, missing_channels, plan_pruning, taken, with_full_values

NODES = """SELECT checkpoint_ns AS namespace, checkpoint_id AS id, parent_checkpoint_id AS parent,
    metadata -> 'parents' ->> '' AS root FROM checkpoints WHERE thread_id = %s"""

THREADS = "SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM checkpoint_writes"

SIZES = """SELECT thread_id, checkpoint_ns, checkpoint_id,
        octet_length(checkpoint::text) + octet_length(metadata::text) AS bytes FROM checkpoints
    UNION ALL SELECT thread_id, checkpoint_ns, checkpoint_id, octet_length(blob) FROM checkpoint_writes
    UNION ALL SELECT b.thread_id, b.checkpoint_ns, (
            SELECT min(c.checkpoint_id) FROM checkpoints c WHERE c.thread_id = b.thread_id
            AND c.checkpoint_ns = b.checkpoint_ns
            AND c.checkpoint -> 'channel_versions' ->> b.channel = b.version
        ), octet_length(b.blob) FROM checkpoint_blobs b WHERE b.blob IS NOT NULL"""

INNER_MESSAGES = """SELECT checkpoint_id, task_path, type, blob FROM checkpoint_writes
    WHERE thread_id = ? AND checkpoint_ns <> '' AND channel = 'messages' AND checkpoint_id > ? ORDER BY checkpoint_id"""

WRITES = """SELECT checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob, run_id
    FROM checkpoint_writes WHERE thread_id = ?"""

THREADS_OF_RUNS = """SELECT thread_id FROM checkpoints WHERE metadata ->> 'run_id' = ANY(?)
    UNION SELECT thread_id FROM checkpoint_writes WHERE run_id = ANY(?)"""

_MADE = """SELECT checkpoint_ns, checkpoint_id FROM checkpoints
    WHERE thread_id = %s AND metadata ->> 'run_id' = ANY(%s)"""

_WROTE = "SELECT checkpoint_ns, checkpoint_id FROM checkpoint_writes WHERE thread_id = %s AND run_id = ANY(%s)"

_COPY = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata",
    "checkpoint_blobs": "checkpoint_ns, channel, version, type, blob",
    "checkpoint_writes": "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, blob, run_id",
}

_ANCHOR = """UPDATE checkpoints SET metadata = %s, parent_checkpoint_id = %s,
    checkpoint = jsonb_set(checkpoint, '{channel_values}', (checkpoint -> 'channel_values') || %s)
    WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s"""

_BLOB = """INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (thread_id, checkpoint_ns, channel, version) DO UPDATE SET type = EXCLUDED.type, blob = EXCLUDED.blob"""

_DROP_UNUSED = """DELETE FROM checkpoint_blobs WHERE thread_id = %s AND (checkpoint_ns, channel, version) NOT IN (
    SELECT c.checkpoint_ns, v.key, v.value FROM checkpoints c
    CROSS JOIN LATERAL jsonb_each_text(c.checkpoint -> 'channel_versions') AS v WHERE c.thread_id = %s)"""


def split(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Channel values that stand in a checkpoint's JSON, and those that are stored apart, serialised.

    A full copy of a delta channel leaves a mark in the JSON, by which LangGraph finds it.
    """
    kept = {name: value for name, value in values.items() if value is None or isinstance(value, bool | int | float)}
    stored = {name: value for name, value in values.items() if name not in kept}
    marks = {name: True for name, value in stored.items() if isinstance(value, _DeltaSnapshot)}
    return {**kept, **marks}, stored


async def delete_thread(connection: Connection, thread: str) -> None:
    """Delete every checkpoint, value and write of a thread, and what its journal and its inbox hold."""
    for table in _COPY:
        await connection.execute(f"DELETE FROM {table} WHERE thread_id = %s".encode(), (thread,))
    for statement in (FORGET_THREAD, FORGET_INBOX):
        await connection.execute(marked(statement), (thread,))


async def copy_thread(connection: Connection, source: str, target: str) -> None:
    """Copy every checkpoint, value and write of a thread to another, and the journal of its pending calls.

    Raises:
        UsageError: the other thread has checkpoints.
    """
    found = await connection.execute("SELECT 1 FROM checkpoints WHERE thread_id = %s LIMIT 1", (target,))
    if await found.fetchone():
        raise taken(target)
    for table, columns in _COPY.items():
        query = f"INSERT INTO {table} (thread_id, {columns}) SELECT %s, {columns} FROM {table} WHERE thread_id = %s"
        await connection.execute(query.encode(), (target, source))
    await connection.execute(marked(COPY_PENDING), (target, source))


async def forget_pruned(connection: Connection, thread: str) -> None:
    """Delete what the journal knows of calls whose checkpoints are gone."""
    await connection.execute(marked(FORGET_PRUNED), (thread,))


async def keep_only(
    saver: DurableSaver,
    connection: Connection,
    thread: str,
    kept: Collection[Node],
    unanswered: Collection[Node] = (),
) -> None:
    """Delete every checkpoint of a thread but these, with its calls in the journal, and the writes of `unanswered`."""
    await carry_out(saver, connection, thread, plan_pruning(await saver.anodes(thread), kept, unanswered))
    await delete_writes(connection, thread, unanswered)
    await forget_pruned(connection, thread)


async def untouched(
    connection: Connection, thread: str, nodes: Collection[Node], run_ids: Sequence[str]
) -> tuple[list[Node], list[Node]]:
    """The checkpoints that some runs did not make, and those among them that the runs wrote to."""
    doomed = await _places(connection, _MADE, (thread, list(run_ids)))
    cut = await _places(connection, _WROTE, (thread, list(run_ids)))
    kept = [node for node in nodes if (node.namespace, node.id) not in doomed]
    return kept, [node for node in kept if (node.namespace, node.id) in cut]


async def _places(connection: Connection, query: str, values: Sequence[Any]) -> set[tuple[str, str]]:
    cursor = await connection.execute(query.encode(), values)
    return {(row["checkpoint_ns"], row["checkpoint_id"]) for row in await cursor.fetchall()}


async def carry_out(saver: DurableSaver, connection: Connection, thread: str, pruning: Pruning) -> None:
    """Write the full values that the pruning needs, then delete."""
    for node, parent in pruning.anchored.items():
        await _anchor(saver, connection, (thread, node), parent)
    await delete_writes(connection, thread, pruning.deleted)
    await _delete(connection, "checkpoints", thread, pruning.deleted)
    await connection.execute(_DROP_UNUSED, (thread, thread))


async def _anchor(saver: DurableSaver, connection: Connection, place: tuple[str, Node], parent: str | None) -> None:
    thread, node = place
    config = address(thread, node.namespace, node.id)
    found = await saver.aget_tuple(config)
    assert found is not None
    missing = missing_channels(found, saver.channels)
    histories = await saver.aget_delta_channel_history(config=config, channels=list(missing))
    checkpoint, metadata = with_full_values(found, histories, missing)
    for name in missing:
        version = str(checkpoint["channel_versions"][name])
        stored = saver.serde.dumps_typed(checkpoint["channel_values"][name])
        await connection.execute(_BLOB, (thread, node.namespace, name, version, *stored))
    marks = Jsonb(dict.fromkeys(missing, True))
    await connection.execute(_ANCHOR, (Jsonb(metadata), parent, marks, thread, node.namespace, node.id))


async def delete_writes(connection: Connection, thread: str, nodes: Collection[Node]) -> None:
    """Delete what tasks wrote at some checkpoints."""
    await _delete(connection, "checkpoint_writes", thread, nodes)


async def _delete(connection: Connection, table: str, thread: str, nodes: Collection[Node]) -> None:
    query = f"DELETE FROM {table} WHERE thread_id = %s AND checkpoint_ns = %s AND checkpoint_id = %s"
    async with connection.cursor() as cursor:
        await cursor.executemany(query.encode(), [(thread, node.namespace, node.id) for node in nodes])


async def delete_writes_of_runs(connection: Connection, thread: str, run_ids: Sequence[str]) -> None:
    """Delete what some runs wrote."""
    query = "DELETE FROM checkpoint_writes WHERE thread_id = %s AND run_id = ANY(%s)"
    await connection.execute(query, (thread, list(run_ids)))
