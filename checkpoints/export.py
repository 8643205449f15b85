"""A thread as one file: export and import."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO
from zlib import crc32

import ormsgpack
from langgraph.checkpoint.base import WRITES_IDX_MAP, writes_sort_key
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..state.errors import CheckpointError, UsageError
from ..state.thread import ThreadRecord
from .arrival import refuse_existing
from .durable import DurableSaver
from .encryption import KEY_VARIABLE
from .journal import PENDING, RESTORE
from .retention import Node
from .threads import thread_registry
from .versions import Versions

MAGIC = b"clew thread 1\n"
"""How an exported file begins. After it come frames: a head, then msgpack."""

HEAD = Struct(">QI")
"""The head of a frame: its length and its checksum (CRC-32)."""


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
            file.write(MAGIC)
            async for part in _parts(saver, thread):
                frame = ormsgpack.packb(list(saver.serde.dumps_typed(part)))
                await asyncio.to_thread(file.write, HEAD.pack(len(frame), crc32(frame)) + frame)
            return file.tell()
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
        CheckpointError: the file is cut short, or encrypted with another key; nothing is imported.
    """
    try:
        file = await asyncio.to_thread(path.open, "rb")
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): give a file that `clew export` wrote") from error
    with file:
        if file.read(len(MAGIC)) != MAGIC:
            raise UsageError(f"{path} is no thread: give a file that `clew export` wrote")
        frames = _frames(file, saver.serde, path)
        head = next(frames)
        target = thread or str(head["thread"])
        await refuse_existing(saver, target)
        try:
            await _import(saver, frames, target)
        except BaseException:
            await saver.adelete_thread(target)
            raise
    if head["record"]:
        await thread_registry(saver).put(ThreadRecord.model_validate({**head["record"], "thread": target}))
    return target


def _create(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


async def _parts(saver: DurableSaver, thread: str) -> AsyncIterator[dict[str, Any]]:
    record = await thread_registry(saver).find(thread)
    yield {"thread": thread, "record": record.model_dump(mode="json") if record else None}
    for reference in await saver.blobs.references(thread):
        yield {"payload": await saver.blobs.get(reference)}
    nodes: list[Node] = sorted(await saver.anodes(thread), key=lambda node: node.id)
    writes = await _writes(saver, thread)
    for node in nodes:
        config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": node.namespace, "checkpoint_id": node.id}}
        found = await saver.aget_tuple(config)
        if found is not None:
            yield {
                "namespace": node.namespace,
                "parent": node.parent,
                "checkpoint": found.checkpoint,
                "metadata": found.metadata,
                "tasks": writes.get((node.namespace, node.id), []),
            }
    for *place, status, kind, result in await saver.database.fetch(PENDING, (thread,)):
        known = saver.serde.loads_typed((kind, bytes(result))) if kind else None
        yield {"call": place, "status": status, "result": known}


async def _writes(saver: DurableSaver, thread: str) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """What the tasks wrote at each checkpoint; a task's special writes apart, since they are stored apart."""
    rows = await saver.database.fetch(saver.writes_query, (thread,))
    rows.sort(key=lambda row: writes_sort_key(row[3], row[2], row[4]))
    tasks: dict[tuple[Any, ...], list[list[Any]]] = defaultdict(list)
    for namespace, checkpoint, task, path, _, channel, kind, value, run_id in rows:
        key = (namespace, checkpoint, task, path, run_id, channel in WRITES_IDX_MAP)
        tasks[key].append([channel, saver.serde.loads_typed((kind, bytes(value)))])
    found: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for (namespace, checkpoint, task, path, run_id, _), items in tasks.items():
        found[namespace, checkpoint].append({"task": task, "path": path, "run_id": run_id, "writes": items})
    return found


def _frames(file: BinaryIO, serde: SerializerProtocol, path: Path) -> Iterator[dict[str, Any]]:
    while head := file.read(HEAD.size):
        if len(head) < HEAD.size:
            raise CheckpointError(f"{path} is cut short or damaged: export the thread again")
        length, checksum = HEAD.unpack(head)
        frame = file.read(length)
        if len(frame) < length or crc32(frame) != checksum:
            raise CheckpointError(f"{path} is cut short or damaged: export the thread again")
        kind, data = ormsgpack.unpackb(frame)
        try:
            yield serde.loads_typed((kind, data))
        except NotImplementedError as error:
            raise CheckpointError(f"{path} is encrypted: set {KEY_VARIABLE} to its key") from error


async def _import(saver: DurableSaver, frames: Iterator[dict[str, Any]], thread: str) -> None:
    versions = Versions(saver)
    for part in frames:
        if "payload" in part:
            await saver.blobs.put(thread, part["payload"])
        elif "call" in part:
            known = part["result"]
            result = (None, None) if known is None else saver.serde.dumps_typed(known)
            await saver.database.write((RESTORE, (thread, *part["call"], part["status"], *result)))
        else:
            await _import_checkpoint(saver, part, thread, versions)


async def _import_checkpoint(saver: DurableSaver, part: dict[str, Any], thread: str, versions: Versions) -> None:
    place = {"thread_id": thread, "checkpoint_ns": part["namespace"]}
    checkpoint = versions.adopt(part["namespace"], part["parent"], part["checkpoint"])
    before: Any = {"configurable": {**place, "checkpoint_id": part["parent"]}}
    await saver.aput(before, checkpoint, part["metadata"], checkpoint["channel_versions"])
    for task in part["tasks"]:
        config: Any = {"configurable": {**place, "checkpoint_id": checkpoint["id"]}}
        config["metadata"] = {"run_id": task["run_id"]}
        await saver.aput_writes(config, [tuple(write) for write in task["writes"]], task["task"], task["path"])
