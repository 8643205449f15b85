"""What the database holds of a thread as parts of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, cast

from langgraph.checkpoint.base import WRITES_IDX_MAP, CheckpointTuple, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..state.errors import UsageError
from ..state.thread import ThreadRecord
from .database import Row
from .retention import Node
from .thread_parts import Beginning, StoredCall, StoredCheckpoint, StoredTask
from .unreadable import check_columns, stored_value

Tasks = dict[tuple[str, str], list[StoredTask]]
"""What tasks wrote, by the namespace and the id of the checkpoint."""

RECORD = "SELECT type, record FROM threads WHERE thread = ?"
"""What `beginning` takes."""


def beginning(serde: SerializerProtocol, thread: str, row: Row | None, nodes: Iterable[Node]) -> Beginning:
    """The first part of a thread.

    Raises:
        UsageError: the thread has neither a record nor checkpoints.
    """
    if row is None and not any(nodes):
        raise UsageError(f"no thread {thread}: `clew threads` lists them")
    record = ThreadRecord.model_validate(stored_value(serde, *row)) if row else None
    return {"part": "thread", "thread": thread, "record": record.model_dump(mode="json") if record else None}


def stored_tasks(serde: SerializerProtocol, rows: Iterable[Row]) -> Tasks:
    """What the rows of `writes_query` hold; a task's special writes apart, since they are stored apart."""
    tasks: dict[Row, StoredTask] = {}
    found: Tasks = defaultdict(list)
    for row in sorted(map(_checked, rows), key=lambda row: writes_sort_key(row[3], row[2], row[4])):
        namespace, checkpoint, task, path, _, channel, kind, value, run_id = row
        key = (namespace, checkpoint, task, path, run_id, channel in WRITES_IDX_MAP)
        if key not in tasks:
            tasks[key] = {"task": task, "path": path, "run_id": run_id, "writes": []}
            found[namespace, checkpoint].append(tasks[key])
        tasks[key]["writes"].append({"channel": channel, "value": stored_value(serde, kind, value)})
    return found


def _checked(row: Row) -> Row:
    check_columns(row, str, str, str, str, int, str)
    return row


def stored_checkpoint(node: Node, found: CheckpointTuple, tasks: Tasks) -> StoredCheckpoint:
    """A checkpoint with what tasks wrote there."""
    return {
        "part": "checkpoint",
        "namespace": node.namespace,
        "parent": node.parent,
        "checkpoint": cast(Any, found.checkpoint),
        "metadata": cast(Any, found.metadata),
        "tasks": tasks.get((node.namespace, node.id), []),
    }


def stored_call(serde: SerializerProtocol, row: Row) -> StoredCall:
    """A row of the journal."""
    namespace, checkpoint, task, call, status, kind, result = row
    return {
        "part": "call",
        "namespace": namespace,
        "checkpoint": checkpoint,
        "task": task,
        "call": call,
        "status": status,
        "result": stored_value(serde, kind, result) if kind else None,
    }
