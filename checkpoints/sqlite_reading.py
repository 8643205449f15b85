"""How the SQLite saver reads: single checkpoints, pages of them, and the history of delta channels."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
    PendingWrite,
    get_checkpoint_id,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from .address import address
from .database import Row
from .unreadable import UnreadableValue, check_columns, stored_value, values_of

PAGE = 50
"""Checkpoints that one read of a listing takes from the database."""

_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"

_BY_ID = f"SELECT {_COLUMNS} FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"

_LATEST = (
    f"SELECT {_COLUMNS} FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? ORDER BY checkpoint_id DESC LIMIT 1"
)

_PENDING = (
    "SELECT task_path, task_id, idx, channel, type, value FROM writes"
    " WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?"
)

_ANCESTORS = """WITH RECURSIVE ancestors(id, parent, type, checkpoint) AS (
        SELECT checkpoint_id, parent_checkpoint_id, type, checkpoint FROM checkpoints
        WHERE thread_id = ?1 AND checkpoint_ns = ?2 AND checkpoint_id = ?3
        UNION ALL
        SELECT c.checkpoint_id, c.parent_checkpoint_id, c.type, c.checkpoint
        FROM ancestors a CROSS JOIN checkpoints c
        WHERE c.thread_id = ?1 AND c.checkpoint_ns = ?2 AND c.checkpoint_id = a.parent
    ) SELECT id, parent, type, checkpoint FROM ancestors"""
# CROSS JOIN keeps `ancestors` the outer loop: one key lookup a step. SQLite yields the rows one by one, so
# leaving the cursor ends the walk, even where a checkpoint put twice has made the chain a ring.

_CHANNEL_WRITES = """SELECT checkpoint_id, task_path, task_id, idx, type, value FROM writes
    WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id IN (SELECT value FROM json_each(?)) AND channel = ?"""

THREADS = "SELECT thread_id FROM checkpoints UNION SELECT thread_id FROM writes"

SIZES = """SELECT thread_id, checkpoint_ns, checkpoint_id,
        coalesce(length(checkpoint), 0) + coalesce(length(metadata), 0) FROM checkpoints
    UNION ALL SELECT thread_id, checkpoint_ns, checkpoint_id, coalesce(length(value), 0) FROM writes"""

WRITES = """SELECT checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value, run_id FROM writes
    WHERE thread_id = ?"""

INNER_MESSAGES = """SELECT checkpoint_id, task_path, type, value FROM writes
    WHERE thread_id = ? AND checkpoint_ns <> '' AND channel = 'messages' AND checkpoint_id > ? ORDER BY checkpoint_id"""


def read_tuple(
    connection: sqlite3.Connection, serde: SerializerProtocol, config: RunnableConfig
) -> CheckpointTuple | None:
    """The checkpoint that the config names, or the newest of its thread and namespace; None if there is none."""
    place = config["configurable"]
    thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
    if checkpoint_id := get_checkpoint_id(config):
        row = connection.execute(_BY_ID, (thread, namespace, checkpoint_id)).fetchone()
    else:
        row = connection.execute(_LATEST, (thread, namespace)).fetchone()
    return _tuple(connection, serde, row) if row else None


def read_page(
    connection: sqlite3.Connection, serde: SerializerProtocol, where: str, parameters: Sequence[Any], limit: int
) -> list[CheckpointTuple]:
    """Up to `limit` checkpoints, newest first."""
    query = f"SELECT {_COLUMNS} FROM checkpoints {where} ORDER BY checkpoint_id DESC, thread_id, checkpoint_ns LIMIT ?"
    rows = connection.execute(query, (*parameters, limit)).fetchall()
    return [_tuple(connection, serde, row) for row in rows]


def _tuple(connection: sqlite3.Connection, serde: SerializerProtocol, row: Row) -> CheckpointTuple:
    thread, namespace, checkpoint_id, parent, kind, checkpoint, metadata = row
    with values_of(thread):
        check_columns(row, str, str, str, str | None)
        pending = connection.execute(_PENDING, (thread, namespace, checkpoint_id)).fetchall()
        return CheckpointTuple(
            address(thread, namespace, checkpoint_id),
            _checkpoint(serde, kind, checkpoint),
            _metadata(metadata),
            address(thread, namespace, parent) if parent else None,
            _pending_writes(serde, pending),
        )


def _checkpoint(serde: SerializerProtocol, kind: Any, data: Any) -> Checkpoint:
    found = stored_value(serde, kind, data)
    if not isinstance(found, dict) or not found.keys() >= {"id", "channel_values", "channel_versions", "versions_seen"}:
        raise UnreadableValue("no checkpoint")
    return cast(Checkpoint, found)


def _metadata(data: Any) -> CheckpointMetadata:
    if not isinstance(data, bytes | str | None):
        raise UnreadableValue("columns of other types")
    found = json.loads(data) if data is not None else {}
    if not isinstance(found, dict):
        raise UnreadableValue("no metadata")
    return cast(CheckpointMetadata, found)


def _pending_writes(serde: SerializerProtocol, rows: Sequence[Row]) -> list[PendingWrite]:
    for row in rows:
        check_columns(row, str, str, int, str)
    ordered = sorted(rows, key=lambda row: writes_sort_key(row[0], row[1], row[2]))
    return [(task, channel, stored_value(serde, kind, value)) for _, task, _, channel, kind, value in ordered]


def search(
    config: RunnableConfig | None, metadata: Mapping[str, Any] | None, before: RunnableConfig | None
) -> tuple[list[str], list[Any]]:
    """Conditions of a listing, and their parameters: by place, by metadata, and before a checkpoint."""
    conditions: list[tuple[str, Sequence[Any]]] = []
    if config is not None:
        place = config["configurable"]
        conditions.append(("thread_id = ?", [str(place["thread_id"])]))
        if (namespace := place.get("checkpoint_ns")) is not None:
            conditions.append(("checkpoint_ns = ?", [namespace]))
        if checkpoint_id := get_checkpoint_id(config):
            conditions.append(("checkpoint_id = ?", [checkpoint_id]))
    conditions += [_metadata_condition(key, value) for key, value in (metadata or {}).items()]
    if before is not None:
        conditions.append(("checkpoint_id < ?", [get_checkpoint_id(before)]))
    return [text for text, _ in conditions], [parameter for _, parameters in conditions for parameter in parameters]


def _metadata_condition(key: str, value: Any) -> tuple[str, list[Any]]:
    field = f'$."{key}"'
    if key == "run_id":
        return ("run_id IS NULL", []) if value is None else ("run_id = ?", [value])
    if isinstance(value, dict | list):
        value = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    valid = "CASE WHEN json_valid(CAST(metadata AS TEXT)) THEN json_extract(CAST(metadata AS TEXT), ?) END"
    return f"{valid} IS ?", [field, value]


def read_delta_history(
    connection: sqlite3.Connection, serde: SerializerProtocol, config: RunnableConfig, channels: Sequence[str]
) -> dict[str, DeltaChannelHistory]:
    """What each delta channel was given between its nearest stored value and the checkpoint, oldest first.

    The checkpoint's own writes are pending and not among them.
    """
    place = config["configurable"]
    thread, namespace = str(place["thread_id"]), place.get("checkpoint_ns", "")
    checkpoint_id = get_checkpoint_id(config)
    if not checkpoint_id:
        row = connection.execute(_LATEST, (thread, namespace)).fetchone()
        checkpoint_id = row[2] if row else ""
    histories: dict[str, DeltaChannelHistory] = {}
    with values_of(thread):
        chains, seeds = _walk(connection, serde, (thread, namespace, checkpoint_id), channels)
        for channel in channels:
            writes = _channel_writes(connection, serde, (thread, namespace), channel, chains[channel])
            histories[channel] = {"writes": writes}
            if channel in seeds:
                histories[channel]["seed"] = seeds[channel]
    return histories


def _walk(
    connection: sqlite3.Connection, serde: SerializerProtocol, place: tuple[str, str, str], channels: Sequence[str]
) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """Ancestors of the checkpoint down to each channel's nearest stored value, and those values."""
    chains: dict[str, list[str]] = {channel: [] for channel in channels}
    seeds: dict[str, Any] = {}
    seen = {place[2]}
    rows = connection.execute(_ANCESTORS, place)
    _, before, *tip = next(rows, (None, None))
    for ancestor, parent, kind, blob in rows:
        if ancestor in seen or len(seeds) == len(chains):
            break
        seen.add(ancestor)
        before = parent
        values = _checkpoint(serde, kind, blob)["channel_values"]
        for channel in chains.keys() - seeds.keys():
            chains[channel].append(ancestor)
            if channel in values:
                seeds[channel] = values[channel]
    rows.close()
    lost = chains.keys() - seeds.keys() if before is not None and before not in seen else ()
    if lost and lost & _checkpoint(serde, *tip)["channel_versions"].keys():
        raise UnreadableValue("a checkpoint is missing among the ancestors")
    return chains, seeds


def _channel_writes(
    connection: sqlite3.Connection, serde: SerializerProtocol, place: tuple[str, str], channel: str, chain: list[str]
) -> list[PendingWrite]:
    age = {checkpoint: position for position, checkpoint in enumerate(reversed(chain))}
    rows = connection.execute(_CHANNEL_WRITES, (*place, json.dumps(chain), channel)).fetchall()
    for row in rows:
        check_columns(row, str, str, str, int)
        if row[0] not in age:
            raise UnreadableValue("an index that leads elsewhere")
    rows.sort(key=lambda row: (age[row[0]], *writes_sort_key(row[1], row[2], row[3])))
    return [(task, channel, stored_value(serde, kind, value)) for _, _, task, _, kind, value in rows]
