"""The history of a thread for people: a line a step, and what the threads weigh."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from .address import address
from .durable import DurableSaver
from .stored_threads import threads_without_payloads
from .stored_work import StoredWork, planner_tokens, read_stored

_SENT = "__pregel_tasks"
"""The channel in which LangGraph keeps the tasks that a step sent."""


@dataclass(frozen=True)
class HistoryStep:
    """One step of a thread, and the checkpoint it ended in."""

    checkpoint: str
    """Id of the checkpoint, by which one forks."""

    parent: str | None
    """Id of the checkpoint before it."""

    step: int
    """Number of the step; -1 for the input."""

    source: str
    """`input`, `loop`, `update` or `fork`, as LangGraph says it."""

    nodes: tuple[str, ...]
    """Nodes that ran."""

    tools: tuple[str, ...]
    """Tools that gave a result, once for each, those of the graphs that ran in the nodes included."""

    seconds: float | None
    """Seconds since the checkpoint before it, a person's pause included; None for the first."""

    tokens: int
    """Tokens of the replies of models, sent and received, those in the graphs that ran in the nodes included."""

    size: int
    """Bytes that the checkpoint and what its tasks wrote take, and all that the graphs in the nodes stored."""

    created: datetime
    """When the step ended."""

    run_id: str | None
    """The run that made it."""


@dataclass(frozen=True)
class ThreadSize:
    """What one thread takes."""

    thread: str
    """Id of the thread."""

    checkpoints: int
    """Checkpoints, those of subgraphs included."""

    state: int
    """Bytes of checkpoints and writes."""

    payloads: int
    """Bytes of the large payloads that it uses; those that threads share count for each."""


async def thread_history(saver: DurableSaver, thread: str, limit: int | None = None) -> list[HistoryStep]:
    """The steps of a thread's outermost graph, newest first; empty for an unknown thread.

    Args:
        saver: the open database.
        thread: id of the thread.
        limit: only that many, and no more is read; None for all.
    """
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    ids: list[str] = []
    found: dict[str, tuple[HistoryStep, StoredWork]] = {}
    waiting: dict[str, list[CheckpointTuple]] = defaultdict(list)
    # One more is read: mostly the checkpoint before the last one asked for, which says what led to that.
    async for item in saver.alist(config, limit=limit and limit + 1):
        ids.append(_id(item))
        found |= {_id(after): _step(after, item) for after in waiting.pop(_id(item), [])}
        waiting[_parent(item) or ""].append(item)
    rows = ids[:limit]
    for parent, items in waiting.items():
        wanted = [item for item in items if _id(item) in rows]
        before = await saver.aget_tuple(address(thread, "", parent)) if parent and wanted else None
        found |= {_id(item): _step(item, before) for item in wanted}
    since = ids[len(rows)] if len(ids) > len(rows) else ""
    await read_stored(saver, thread, {row: found[row][1] for row in rows}, since=since)
    return [_with_work(*found[row]) for row in rows]


def _with_work(step: HistoryStep, work: StoredWork) -> HistoryStep:
    return replace(step, tools=tuple(work.tools), tokens=step.tokens + work.tokens, size=work.size)


async def disk_usage(saver: DurableSaver) -> list[ThreadSize]:
    """What each thread takes, the largest first; those of which there is only a record too."""
    state: dict[str, int] = defaultdict(int)
    places: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for thread, namespace, checkpoint, size in await saver.database.fetch(saver.sizes_query):
        state[str(thread)] += int(size)
        places[str(thread)].add((namespace, checkpoint))
    payloads = await saver.blobs.sizes()
    found = [
        ThreadSize(thread, len(places[thread]), state[thread], payloads.get(thread, 0))
        for thread in {*await threads_without_payloads(saver), *payloads}
    ]
    return sorted(found, key=lambda item: (-item.state - item.payloads, item.thread))


def _id(item: CheckpointTuple) -> str:
    identifier: str = item.config["configurable"]["checkpoint_id"]
    return identifier


def _parent(item: CheckpointTuple) -> str | None:
    return item.parent_config["configurable"]["checkpoint_id"] if item.parent_config else None


def _step(item: CheckpointTuple, before: CheckpointTuple | None) -> tuple[HistoryStep, StoredWork]:
    created, work = datetime.fromisoformat(item.checkpoint["ts"]), StoredWork()
    work.note(value for _, _, value in (before.pending_writes if before else None) or ())
    step = HistoryStep(
        checkpoint=_id(item),
        parent=_parent(item),
        step=item.metadata.get("step", -1),
        source=item.metadata.get("source", "loop"),
        nodes=tuple(_nodes(item, before)),
        tools=(),
        seconds=(created - datetime.fromisoformat(before.checkpoint["ts"])).total_seconds() if before else None,
        tokens=planner_tokens(before) if before else 0,
        size=0,
        created=created,
        run_id=item.metadata.get("run_id"),
    )
    return step, work


def _nodes(item: CheckpointTuple, before: CheckpointTuple | None) -> Iterator[str]:
    """The nodes that ran between two checkpoints: those that were sent, and those that saw something new."""
    if before is None:
        return
    sent = before.checkpoint["channel_values"].get(_SENT) or ()
    yield from (packet.node for packet in sent)
    earlier = before.checkpoint["versions_seen"]
    for name, seen in item.checkpoint["versions_seen"].items():
        if not name.startswith("__") and seen and seen != earlier.get(name):
            yield name
