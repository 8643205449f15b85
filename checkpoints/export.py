"""A thread as one file: export and import."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from ..state.errors import CheckpointError, UsageError
from ..state.thread import ThreadRecord
from .arrival import Settle, arriving
from .durable import DurableSaver
from .thread_file import ThreadReader, ThreadWriter
from .thread_parts import Part
from .threads import thread_registry


async def export_thread(saver: DurableSaver, thread: str, path: Path) -> int:
    """Write a thread with its record, checkpoints and payloads to a new file, for this user alone.

    The file holds the thread as it is at one moment, whatever runs or prunes it meanwhile.

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
            await _write(saver, thread, writer, path)
            return await asyncio.to_thread(writer.end)
    except BaseException as error:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise


async def import_thread(
    saver: DurableSaver, path: Path, thread: str | None = None, *, settle: Settle | None = None
) -> str:
    """Read a thread from a file, under its own id or another, and return that id.

    The thread comes whole or not at all, also where the process is killed.

    Args:
        saver: the open database.
        path: a file that `export_thread` wrote, or a pipe.
        thread: id of the thread here; None for the one in the file.
        settle: fits the record to where it comes, in a thread of its own.

    Raises:
        UsageError: the file cannot be read, is no export, or the thread exists.
        CheckpointError: the file is cut short, damaged, or encrypted with another key; nothing is imported.
        ThreadBusy: another process is making a thread of that id.
    """
    with ExitStack() as stack:
        file = await asyncio.to_thread(stack.enter_context, _opened(path))
        reader = ThreadReader(file, saver.serde, path)
        beginning = await asyncio.to_thread(reader.check)
        target = thread or beginning["thread"]
        told = beginning["record"]
        record = ThreadRecord.model_validate({**told, "thread": target}) if told else None
        if settle:
            record = await asyncio.to_thread(settle, record)
        async with arriving(saver, target):
            for part in reader.parts():
                if part["part"] == "payload":
                    await saver.blobs.put(target, part["payload"])
            also = [thread_registry(saver).putting(record)] if record else []
            await saver.moving.receive(target, reader.parts, *also)
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


async def _write(saver: DurableSaver, thread: str, writer: ThreadWriter, path: Path) -> None:
    def take(part: Part) -> None:
        try:
            writer.write(part)
        except OSError as error:  # the database would take it for its own
            raise _unwritable(path, error) from error

    before = await saver.blobs.references(thread)
    await saver.moving.send(thread, take)
    # A payload is stored before the checkpoint that refers to it. One that is gone meanwhile is told as missing.
    for reference in {**before, **await saver.blobs.references(thread)}:
        payload = await saver.blobs.get(reference)
        await asyncio.to_thread(take, {"part": "payload", "payload": payload})


def _unwritable(path: Path, error: OSError) -> CheckpointError:
    return CheckpointError(f"{path} could not be written ({error.strerror}): free some space or give a file elsewhere")
