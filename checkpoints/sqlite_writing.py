"""How the SQLite saver writes: checkpoints and pending writes as rows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import WRITES_IDX_MAP, Checkpoint, CheckpointMetadata, get_checkpoint_metadata
from langgraph.checkpoint.serde.base import SerializerProtocol

from .database import Row
from .redact import Redactor
from .sqlite_database import transaction

INSERT_CHECKPOINT = """INSERT OR REPLACE INTO checkpoints
    (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata, run_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""

_WRITE_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value, run_id"

_MANY = 100
"""Writes of one task above which they go in row by row, in a transaction, and not in one statement."""

_encode = json.JSONEncoder(ensure_ascii=False).encode


def metadata_bytes(metadata: CheckpointMetadata) -> bytes:
    """Metadata as the JSON that the database can search."""
    return _encode(metadata).encode("utf-8", "ignore")


def checkpoint_row(
    serde: SerializerProtocol,
    redactor: Redactor,
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
) -> Row:
    """The parameters of `INSERT_CHECKPOINT`."""
    place = config["configurable"]
    complete = get_checkpoint_metadata(config, metadata)
    return (
        str(place["thread_id"]),
        place.get("checkpoint_ns", ""),
        checkpoint["id"],
        place.get("checkpoint_id"),
        *serde.dumps_typed(checkpoint),
        redactor.json(metadata_bytes(complete)),
        complete.get("run_id"),
    )


def write_rows(
    serde: SerializerProtocol, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
) -> list[Row]:
    """The rows that `insert_writes` stores, one a write."""
    place = config["configurable"]
    where = (str(place["thread_id"]), place.get("checkpoint_ns", ""), str(place["checkpoint_id"]), task_id, task_path)
    run_id = (config.get("metadata") or {}).get("run_id")
    return [
        (*where, WRITES_IDX_MAP.get(channel, index), channel, *serde.dumps_typed(value), run_id)
        for index, (channel, value) in enumerate(writes)
    ]


def insert_writes(connection: sqlite3.Connection, writes: Sequence[tuple[str, Any]], rows: Sequence[Row]) -> None:
    """Store a task's writes: errors, interrupts and resumes replace earlier ones, the others stay as first seen."""
    special = all(channel in WRITES_IDX_MAP for channel, _ in writes)
    if not rows:
        return
    if len(rows) <= _MANY:
        connection.execute(_insert_writes(special, len(rows)), [value for row in rows for value in row])
        return
    with nullcontext() if connection.in_transaction else transaction(connection):
        connection.executemany(_insert_writes(special, 1), rows)


@cache
def _insert_writes(special: bool, count: int) -> str:
    rows = ", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"] * count)
    return f"INSERT OR {'REPLACE' if special else 'IGNORE'} INTO writes ({_WRITE_COLUMNS}) VALUES {rows}"
