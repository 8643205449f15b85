"""A thread from another: a fork."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from functools import partial

from ..state.errors import UsageError
from .arrival import Settle, arriving
from .durable import DurableSaver
from .journal import PENDING
from .moving import Choice
from .retention import Node, chain
from .threads import thread_registry


async def fork_thread(
    saver: DurableSaver, source: str, target: str, at: str | None = None, *, settle: Settle | None = None
) -> None:
    """Begin a new thread at a checkpoint of another; None for its newest, as it stands, questions included.

    From an older checkpoint the new thread goes on as if nothing had been done after it. The new thread comes whole or
    not at all, also where the process is killed.

    Args:
        saver: the open database.
        source: the other thread, which may be running.
        target: id of the new one.
        at: id of the checkpoint.
        settle: fits the record to the new thread, in a thread of its own.

    Raises:
        UsageError: there is no such thread or checkpoint, or the new thread exists.
        ThreadBusy: another process is making a thread of that id.
    """
    registry = thread_registry(saver)
    record = await registry.find(source) if await saver.anodes(source) else await registry.get(source)
    record = record and record.model_copy(update={"thread": target})
    if settle:
        record = await asyncio.to_thread(settle, record)
    async with arriving(saver, target):
        await saver.moving.fork(
            source, target, partial(_choose, source, at), *([registry.putting(record)] if record else [])
        )


def _choose(source: str, at: str | None, nodes: Collection[Node]) -> Choice:
    outer = {node.id: node for node in nodes if not node.namespace}
    at = at or max(outer, default="")
    if at not in outer:
        raise UsageError(f"no checkpoint {at} in thread {source}: `clew history {source}` lists them")
    line = {node.id for node in chain(outer.values(), outer[at])}
    is_newest = not any(node.parent == at for node in outer.values())
    calls = line if is_newest else line - {at}
    kept = [node for node in nodes if (node.root in calls if node.namespace else node.id in line)]
    return Choice(kept, [] if is_newest else [outer[at]])


async def refuse_cut_off(saver: DurableSaver, thread: str, checkpoint: str) -> None:
    """Refuse a checkpoint from which nothing came but calls that were begun.

    A copy of it within its thread has tasks of its own, so that it would make those calls again.

    Raises:
        UsageError: there are such calls.
    """
    nodes = await saver.anodes(thread)
    if any(node.parent == checkpoint and not node.namespace for node in nodes):
        return
    begun = {
        (namespace, place)
        for namespace, place, _, _, status, *_ in await saver.database.fetch(PENDING, (thread,))
        if status != "waiting"
    }
    if any((node.namespace, node.id) in begun for node in nodes if checkpoint in (node.id, node.root)):
        raise UsageError(
            f"checkpoint {checkpoint} was left with calls that were begun, and a copy would make them again: fork it"
            " to a new thread (--to NEW), which knows of them"
        )
