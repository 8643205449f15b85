"""A thread as one file: export and import."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from langgraph.checkpoint.base import WRITES_IDX_MAP, writes_sort_key

from ..state.errors import CheckpointError, UsageError
from ..state.thread import ThreadRecord
from .arrival import refuse_existing
from .durable import DurableSaver
from .journal import PENDING, RESTORE
from .retention import Node
from .thread_file import Part, StoredCheckpoint, StoredTask, ThreadReader, ThreadWriter
from .threads import thread_registry
from .versions import Versions


async def export_thread(saver: DurableSaver, thread: str, path: Path) -> int:
    """Write a thread with its record, checkpoints and payloads to a new file, for this user alone.

    Values are written as they are stored: masked, and encrypted where the database is.

    Returns:
        the bytes of the file.

    Raises:
        UsageError: there is no such thread, or the file exists.
        CheckpointError: the database cannot be read, or the file not be written; no half of it is left.
    """
    if not await saver.anodes(thread):
        await thread_registry(saver).get(thread)
    try:
        file = await asyncio.to_thread(_create, path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): give a new file elsewhere") from error
    try:
        with file:
            writer = ThreadWriter(file, saver.serde)
            async for part in _parts(saver, thread):
                await asyncio.to_thread(writer.write, part)
            return await asyncio.to_thread(writer.end)
    except BaseException as error:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        if isinstance(error, OSError):
            raise CheckpointError(
                f"{path} could not be written ({error.strerror}): free some space or give a file elsewhere"
            ) from error
        raise


async def import_thread(saver: DurableSaver, path: Path, thread: str | None = None) -> str:
    """Read a thread from a file, under its own id or another, and return that id.

    Raises:
        UsageError: the file cannot be read, is no export, or the thread exists.
        CheckpointError: the file is cut short, damaged, or encrypted with another key; nothing is imported.
    """
    with ExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, _opened(path))
        reader = ThreadReader(file, saver.serde, path)
        beginning = await asyncio.to_thread(reader.check)
        target = thread or beginning["thread"]
        await refuse_existing(saver, target)
        try:
            await _import(saver, reader, target)
        except BaseException:
            await saver.adelete_thread(target)
            raise
    if beginning["record"]:
        await thread_registry(saver).put(ThreadRecord.model_validate({**beginning["record"], "thread": target}))
    return target


def _create(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, or a copy of what comes out of a pipe: it is read twice."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a file that `clew export` wrote") from error
    with file:
        if file.seekable():
            yield file
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(file, copy)
            yield cast(BinaryIO, copy)


async def _parts(saver: DurableSaver, thread: str) -> AsyncIterator[Part]:
    record = await thread_registry(saver).find(thread)
    yield {"part": "thread", "thread": thread, "record": record.model_dump(mode="json") if record else None}
    nodes: list[Node] = sorted(await saver.anodes(thread), key=lambda node: node.id)
    writes = await _writes(saver, thread)
    for node in nodes:
        config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": node.namespace, "checkpoint_id": node.id}}
        found = await saver.aget_tuple(config)
        if found is not None:
            yield {
                "part": "checkpoint",
                "namespace": node.namespace,
                "parent": node.parent,
                "checkpoint": cast(Any, found.checkpoint),
                "metadata": cast(Any, found.metadata),
                "tasks": writes.get((node.namespace, node.id), []),
            }
    for namespace, checkpoint, task, call, status, kind, result in await saver.database.fetch(PENDING, (thread,)):
        yield {
            "part": "call",
            "namespace": namespace,
            "checkpoint": checkpoint,
            "task": task,
            "call": call,
            "status": status,
            "result": saver.serde.loads_typed((kind, bytes(result))) if kind else None,
        }
    for reference in await saver.blobs.references(thread):
        yield {"part": "payload", "payload": await saver.blobs.get(reference)}


async def _writes(saver: DurableSaver, thread: str) -> dict[tuple[str, str], list[StoredTask]]:
    """What the tasks wrote at each checkpoint; a task's special writes apart, since they are stored apart."""
    rows = await saver.database.fetch(saver.writes_query, (thread,))
    rows.sort(key=lambda row: writes_sort_key(row[3], row[2], row[4]))
    tasks: dict[tuple[Any, ...], StoredTask] = {}
    found: dict[tuple[str, str], list[StoredTask]] = defaultdict(list)
    for namespace, checkpoint, task, path, _, channel, kind, value, run_id in rows:
        key = (namespace, checkpoint, task, path, run_id, channel in WRITES_IDX_MAP)
        if key not in tasks:
            tasks[key] = {"task": task, "path": path, "run_id": run_id, "writes": []}
            found[namespace, checkpoint].append(tasks[key])
        tasks[key]["writes"].append({"channel": channel, "value": saver.serde.loads_typed((kind, bytes(value)))})
    return found


async def _import(saver: DurableSaver, reader: ThreadReader, thread: str) -> None:
    versions = Versions(saver)
    for part in reader.parts():
        if part["part"] == "payload":
            await saver.blobs.put(thread, part["payload"])
        elif part["part"] == "call":
            result = (None, None) if part["result"] is None else saver.serde.dumps_typed(part["result"])
            call = (part["namespace"], part["checkpoint"], part["task"], part["call"], part["status"])
            await saver.database.write((RESTORE, (thread, *call, *result)))
        elif part["part"] == "checkpoint":
            await _import_checkpoint(saver, part, thread, versions)


async def _import_checkpoint(saver: DurableSaver, part: StoredCheckpoint, thread: str, versions: Versions) -> None:
    place = {"thread_id": thread, "checkpoint_ns": part["namespace"]}
    checkpoint = versions.adopt(part["namespace"], part["parent"], cast(Any, part["checkpoint"]))
    before: Any = {"configurable": {**place, "checkpoint_id": part["parent"]}}
    await saver.aput(before, checkpoint, cast(Any, part["metadata"]), checkpoint["channel_versions"])
    for task in part["tasks"]:
        config: Any = {"configurable": {**place, "checkpoint_id": checkpoint["id"]}}
        config["metadata"] = {"run_id": task["run_id"]}
        writes = [(write["channel"], write["value"]) for write in task["writes"]]
        await saver.aput_writes(config, writes, task["task"], task["path"])
