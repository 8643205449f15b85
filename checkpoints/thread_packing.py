"""What the database holds of a thread as parts of it, and parts as what it is to hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    writes_sort_key,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..state.errors import UsageError
from ..state.thread import ThreadRecord
from .database import Row, Statement
from .journal import RESTORE
from .retention import Node
from .thread_parts import Beginning, StoredCall, StoredCheckpoint, StoredTask
from .unreadable import check_columns, stored_value
from .versions import Versions

Tasks = dict[tuple[str, str], list[StoredTask]]
"""What tasks wrote, by the namespace and the id of the checkpoint."""

RECORD = "SELECT type, record FROM threads WHERE thread = ?"
"""What `beginning` takes."""

EXISTS = """SELECT 1 FROM threads WHERE thread = ? UNION ALL SELECT 1 FROM checkpoints WHERE thread_id = ? LIMIT 1"""
"""Whether there is a thread, with a record or without."""


class TaskWrites(NamedTuple):
    """What one task wrote, as `put_writes` takes it."""

    config: RunnableConfig
    """The checkpoint, and the run."""

    writes: list[tuple[str, Any]]
    """Channels and values."""

    task: str
    """Id of the task."""

    path: str
    """Its place among the tasks of its step."""


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


def unpacked_checkpoint(
    thread: str, part: StoredCheckpoint, versions: Versions
) -> tuple[RunnableConfig, Checkpoint, CheckpointMetadata]:
    """The config of the checkpoint before, the checkpoint and its metadata, as `put` takes them."""
    place = {"thread_id": thread, "checkpoint_ns": part["namespace"], "checkpoint_id": part["parent"]}
    checkpoint = versions.adopt(part["namespace"], part["parent"], cast(Checkpoint, part["checkpoint"]))
    return {"configurable": place}, checkpoint, cast(CheckpointMetadata, part["metadata"])


def unpacked_tasks(thread: str, part: StoredCheckpoint) -> list[TaskWrites]:
    """What tasks wrote at a checkpoint."""
    place = {"thread_id": thread, "checkpoint_ns": part["namespace"], "checkpoint_id": part["checkpoint"]["id"]}
    return [
        TaskWrites(
            {"configurable": place, "metadata": {"run_id": task["run_id"]}},
            [(write["channel"], write["value"]) for write in task["writes"]],
            task["task"],
            task["path"],
        )
        for task in part["tasks"]
    ]


def unpacked_call(serde: SerializerProtocol, thread: str, part: StoredCall) -> Statement:
    """What brings a call into the journal."""
    result = (None, None) if part["result"] is None else serde.dumps_typed(part["result"])
    call = (part["namespace"], part["checkpoint"], part["task"], part["call"], part["status"])
    return RESTORE, (thread, *call, *result)
