"""A thread as one file, and a thread from another: export, import and fork."""

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
from .durable import DurableSaver
from .encryption import KEY_VARIABLE
from .retention import Node, chain
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
        await _refuse_existing(saver, target)
        try:
            await _import(saver, frames, target)
        except BaseException:
            await saver.adelete_thread(target)
            raise
    if head["record"]:
        await thread_registry(saver).put(ThreadRecord.model_validate({**head["record"], "thread": target}))
    return target


async def fork_thread(saver: DurableSaver, source: str, target: str, at: str | None = None) -> None:
    """Begin a new thread at a checkpoint of another; None for its newest, as it stands, questions included.

    From an older checkpoint the new thread goes on as if nothing had been done after it.

    Raises:
        UsageError: there is no such thread or checkpoint, or the new thread exists.
    """
    outer = {node.id: node for node in await saver.anodes(source) if not node.namespace}
    if not outer:
        await thread_registry(saver).get(source)
    at = at or max(outer, default="")
    if at not in outer:
        raise UsageError(f"no checkpoint {at} in thread {source}: `clew history {source}` lists them")
    await _refuse_existing(saver, target)
    await saver.acopy_thread(source, target)
    tip = outer[at]
    line = {node.id for node in chain(outer.values(), tip)}
    is_newest = not any(node.parent == at for node in outer.values())
    calls = line if is_newest else line - {at}
    nodes = await saver.anodes(target)
    kept = [node for node in nodes if (node.root in calls if node.namespace else node.id in line)]
    await saver.aretain(target, kept, () if is_newest else [node for node in kept if node == tip])
    await _copy_record(saver, source, target)


def _create(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb")


async def _copy_record(saver: DurableSaver, source: str, target: str) -> None:
    registry = thread_registry(saver)
    if record := next((record for record in await registry.list() if record.thread == source), None):
        await registry.put(record.model_copy(update={"thread": target}))


async def _refuse_existing(saver: DurableSaver, thread: str) -> None:
    known = {record.thread for record in await thread_registry(saver).list()}
    if thread in known or await saver.anodes(thread):
        raise UsageError(f"thread {thread} exists: give the new one another name")


async def _parts(saver: DurableSaver, thread: str) -> AsyncIterator[dict[str, Any]]:
    records = [record for record in await thread_registry(saver).list() if record.thread == thread]
    yield {"thread": thread, "record": records[0].model_dump(mode="json") if records else None}
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
