"""The right to run a thread: one process has it at a time, and a dead one loses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from ..state.errors import CheckpointError, ThreadBusy
from .database import Database, Row
from .processes import Process, this_process

HEARTBEAT = 5.0
"""Seconds between two signs of life of a holder."""

EXPIRY = 30
"""Seconds without a sign of life after which a holder on another machine counts as dead."""

_TAKE = """INSERT INTO leases (thread, token, owner, host, pid, started, heartbeat)
    VALUES (?, ?, ?, ?, ?, ?, {now})
    ON CONFLICT (thread) DO UPDATE SET token = excluded.token, owner = excluded.owner, host = excluded.host,
        pid = excluded.pid, started = excluded.started, heartbeat = excluded.heartbeat
    WHERE leases.token = ?"""

_READ = "SELECT token, owner, host, pid, started, {now} - heartbeat FROM leases WHERE thread = ?"

_BEAT = "UPDATE leases SET heartbeat = {now} WHERE thread = ? AND token = ?"

_RELEASE = "DELETE FROM leases WHERE thread = ? AND token = ?"


@dataclass(frozen=True)
class Holder:
    """Who runs a thread."""

    token: str
    """Names this one lease."""

    owner: str
    """What the process calls itself, such as `clew run`."""

    process: Process
    """The process that took the lease."""

    silence: int
    """Seconds since its last sign of life."""

    async def lives(self) -> bool:
        """Whether the lease still holds: its process lives, or is elsewhere and gave a sign of life lately."""
        alive = await asyncio.to_thread(self.process.is_alive)
        return self.silence < EXPIRY if alive is None else alive


async def find_holder(database: Database, thread: str) -> Holder | None:
    """The live holder of a thread; None if nobody runs it."""
    holder = await _read(database, thread)
    return holder if holder and await holder.lives() else None


async def _read(database: Database, thread: str) -> Holder | None:
    rows = await database.fetch(_READ.format(now=database.now), (thread,))
    return _holder(rows[0]) if rows else None


def _holder(row: Row) -> Holder:
    # A row that the disk has changed is that of a dead process.
    *texts, silence = row
    token, owner, host, started = (str(text) for text in (*texts[:3], texts[4]))
    return Holder(token, owner, Process(host, texts[3], started), int(silence) if silence is not None else EXPIRY)


@asynccontextmanager
async def hold(database: Database, thread: str, owner: str) -> AsyncIterator[None]:
    """Hold the lease of a thread.

    The body is cancelled if the lease is lost, which happens only where this process was silent for longer than
    `EXPIRY` and another machine took over.

    Raises:
        ThreadBusy: another live process, or another task of this one, has it; or it was lost.
        CheckpointError: the database cannot be written.
    """
    token = await _take(database, thread, owner)
    body = asyncio.current_task()
    beats = asyncio.create_task(_beat(database, thread, token, body))
    try:
        yield
    except asyncio.CancelledError:
        if not beats.done() or body is None:
            raise
        body.uncancel()
        raise ThreadBusy(f"thread {thread} was taken over by another process while this one was silent") from None
    finally:
        beats.cancel()
        await database.write((_RELEASE, (thread, token)))


async def _take(database: Database, thread: str, owner: str) -> str:
    token = uuid4().hex
    me = await asyncio.to_thread(this_process)
    for _ in range(3):
        holder = await _read(database, thread)
        if holder and await holder.lives():
            raise _busy(thread, holder)
        values = (thread, token, owner, me.host, me.pid, me.started, holder.token if holder else "")
        if (await database.write((_TAKE.format(now=database.now), values)))[0]:
            return token
    raise ThreadBusy(f"thread {thread} is being taken by several processes at once: try again")


def _busy(thread: str, holder: Holder) -> ThreadBusy:
    place = f"process {holder.process.pid} on {holder.process.host}"
    return ThreadBusy(f"thread {thread} is being run by {holder.owner}, {place}: wait for it or stop it")


async def _beat(database: Database, thread: str, token: str, body: asyncio.Task[object] | None) -> None:
    lost = False
    while not lost:
        await asyncio.sleep(HEARTBEAT)
        try:
            lost = not (await database.write((_BEAT.format(now=database.now), (thread, token))))[0]
        except CheckpointError:
            continue
    if body is not None:
        body.cancel()
