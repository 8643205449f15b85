"""How the SQLite saver deletes, prunes and copies. Each function is the inside of one transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.base import SerializerProtocol

from .address import address
from .channels import DeltaChannels
from .inbox import FORGET_INBOX
from .journal import COPY_PENDING, FORGET_PRUNED, FORGET_THREAD
from .retention import Node, Pruning, missing_channels, plan_pruning, taken, with_full_values
from .sqlite_reading import read_delta_history, read_tuple
from .sqlite_writing import metadata_bytes
from .unreadable import UnreadableValue, check_columns, values_of

_COPY = {
    "checkpoints": "checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata, run_id",
    "writes": "checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value, run_id",
}

_NODES = """SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, CASE WHEN json_valid(CAST(metadata AS TEXT))
    THEN json_extract(CAST(metadata AS TEXT), '$.parents.""') END FROM checkpoints WHERE thread_id = ?"""


def delete_thread(connection: sqlite3.Connection, thread: str) -> None:
    """Delete every checkpoint and write of a thread, and what its journal and its inbox hold."""
    for table in _COPY:
        connection.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread,))
    connection.execute(FORGET_THREAD, (thread,))
    connection.execute(FORGET_INBOX, (thread,))


def copy_thread(connection: sqlite3.Connection, source: str, target: str) -> None:
    """Copy every checkpoint and write of a thread to another, and what the journal knows of its pending calls.

    Raises:
        UsageError: the other thread has checkpoints.
    """
    if connection.execute("SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1", (target,)).fetchone():
        raise taken(target)
    for table, columns in _COPY.items():
        connection.execute(
            f"INSERT INTO {table} (thread_id, {columns}) SELECT ?, {columns} FROM {table} WHERE thread_id = ?",
            (target, source),
        )
    connection.execute(COPY_PENDING, (target, source))


def thread_nodes(connection: sqlite3.Connection, thread: str) -> list[Node]:
    """The checkpoints of a thread, without their contents."""
    rows = connection.execute(_NODES, (thread,)).fetchall()
    with values_of(thread):
        for row in rows:
            check_columns(row, str, str, str | None, str | None)
    return [Node(*row) for row in rows]


def delete_runs(
    connection: sqlite3.Connection, serde: SerializerProtocol, channels: DeltaChannels, run_ids: Sequence[str]
) -> list[str]:
    """Delete the checkpoints and writes of some runs; what other runs built on them keeps its state.

    Returns:
        the threads of which no checkpoint is left: nothing else of theirs is, either.
    """
    of_runs = f"WHERE run_id IN ({', '.join('?' * len(run_ids))})"
    threads = f"SELECT thread_id FROM checkpoints {of_runs} UNION SELECT thread_id FROM writes {of_runs}"
    places = f"SELECT checkpoint_ns, checkpoint_id FROM {{}} {of_runs} AND thread_id = ?"
    emptied = []
    for (thread,) in connection.execute(threads, (*run_ids, *run_ids)).fetchall():
        made = set(connection.execute(places.format("checkpoints"), (*run_ids, thread)))
        cut = set(connection.execute(places.format("writes"), (*run_ids, thread)))
        nodes = thread_nodes(connection, thread)
        kept = [node for node in nodes if (node.namespace, node.id) not in made]
        if not kept:
            delete_thread(connection, thread)
            emptied.append(thread)
            continue
        losing = [node for node in kept if (node.namespace, node.id) in cut]
        carry_out(connection, serde, channels, thread, plan_pruning(nodes, kept, losing))
        connection.execute(f"DELETE FROM writes {of_runs} AND thread_id = ?", (*run_ids, thread))
        connection.execute(FORGET_PRUNED, (thread,))
    return emptied


def carry_out(
    connection: sqlite3.Connection, serde: SerializerProtocol, channels: DeltaChannels, thread: str, pruning: Pruning
) -> None:
    """Write the full values that the pruning needs, then delete."""
    for node, parent in pruning.anchored.items():
        _anchor(connection, serde, channels, (thread, node), parent)
    places = [(thread, node.namespace, node.id) for node in pruning.deleted]
    for table in _COPY:
        connection.executemany(
            f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?", places
        )


def _anchor(
    connection: sqlite3.Connection,
    serde: SerializerProtocol,
    channels: DeltaChannels,
    place: tuple[str, Node],
    parent: str | None,
) -> None:
    thread, node = place
    config = address(thread, node.namespace, node.id)
    found: CheckpointTuple | None = read_tuple(connection, serde, config)
    with values_of(thread):
        if found is None:
            raise UnreadableValue("an index that leads elsewhere")
    missing = missing_channels(found, channels)
    histories = read_delta_history(connection, serde, config, list(missing))
    checkpoint, metadata = with_full_values(found, histories, missing)
    values: tuple[Any, ...] = (*serde.dumps_typed(checkpoint), metadata_bytes(metadata), parent)
    connection.execute(
        "UPDATE checkpoints SET type = ?, checkpoint = ?, metadata = ?, parent_checkpoint_id = ?"
        " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
        (*values, thread, node.namespace, node.id),
    )


def keep_only(
    connection: sqlite3.Connection,
    serde: SerializerProtocol,
    channels: DeltaChannels,
    thread: str,
    kept: Collection[Node],
    unanswered: Collection[Node] = (),
) -> None:
    """Delete every checkpoint of a thread but these, with its calls in the journal, and the writes of `unanswered`."""
    pruning = plan_pruning(thread_nodes(connection, thread), kept, unanswered)
    carry_out(connection, serde, channels, thread, pruning)
    for node in unanswered:
        connection.execute(
            "DELETE FROM writes WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?",
            (thread, node.namespace, node.id),
        )
    connection.execute(FORGET_PRUNED, (thread,))
