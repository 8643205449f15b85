"""A thread from another: a fork."""

from __future__ import annotations

from ..state.errors import UsageError
from .arrival import refuse_existing
from .durable import DurableSaver
from .journal import PENDING
from .retention import chain
from .threads import thread_registry


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
    await refuse_existing(saver, target)
    await saver.acopy_thread(source, target)
    tip = outer[at]
    line = {node.id for node in chain(outer.values(), tip)}
    is_newest = not any(node.parent == at for node in outer.values())
    calls = line if is_newest else line - {at}
    nodes = await saver.anodes(target)
    kept = [node for node in nodes if (node.root in calls if node.namespace else node.id in line)]
    await saver.aretain(target, kept, () if is_newest else [node for node in kept if node == tip])
    await _copy_record(saver, source, target)


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


async def _copy_record(saver: DurableSaver, source: str, target: str) -> None:
    registry = thread_registry(saver)
    if record := await registry.find(source):
        await registry.put(record.model_copy(update={"thread": target}))
