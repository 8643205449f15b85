"""The history of a thread for people: a line a step, and what the threads weigh."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.base import CheckpointTuple

from .durable import DurableSaver

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
    """Tools that gave a result, once for each."""

    seconds: float | None
    """Seconds since the checkpoint before it, a person's pause included; None for the first."""

    tokens: int
    """Tokens of the replies of models, sent and received."""

    size: int
    """Bytes that the checkpoint and what its tasks wrote take."""

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


async def thread_history(saver: DurableSaver, thread: str) -> list[HistoryStep]:
    """The steps of a thread's outermost graph, newest first; empty for an unknown thread."""
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    found = {_id(item): item async for item in saver.alist(config)}
    sizes: dict[str, int] = defaultdict(int)
    rows = await saver.database.fetch(f"SELECT * FROM ({saver.sizes_query}) AS sizes WHERE thread_id = ?", (thread,))
    for _, namespace, checkpoint, size in rows:
        if not namespace:
            sizes[checkpoint] += int(size)
    return [_step(item, found.get(_parent(item) or ""), sizes) for item in found.values()]


async def disk_usage(saver: DurableSaver) -> list[ThreadSize]:
    """What each thread takes, the largest first."""
    state: dict[str, int] = defaultdict(int)
    places: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for thread, namespace, checkpoint, size in await saver.database.fetch(saver.sizes_query):
        state[thread] += int(size)
        places[thread].add((namespace, checkpoint))
    found = [
        ThreadSize(thread, len(places[thread]), size, sum((await saver.blobs.references(thread)).values()))
        for thread, size in state.items()
    ]
    return sorted(found, key=lambda item: (-item.state - item.payloads, item.thread))


def _id(item: CheckpointTuple) -> str:
    identifier: str = item.config["configurable"]["checkpoint_id"]
    return identifier


def _parent(item: CheckpointTuple) -> str | None:
    return item.parent_config["configurable"]["checkpoint_id"] if item.parent_config else None


def _step(item: CheckpointTuple, before: CheckpointTuple | None, sizes: Mapping[str, int]) -> HistoryStep:
    created = datetime.fromisoformat(item.checkpoint["ts"])
    messages = list(_messages(before.pending_writes or ())) if before else []
    return HistoryStep(
        checkpoint=_id(item),
        parent=_parent(item),
        step=item.metadata.get("step", -1),
        source=item.metadata.get("source", "loop"),
        nodes=tuple(_nodes(item, before)),
        tools=tuple(message.name or "" for message in messages if isinstance(message, ToolMessage)),
        seconds=(created - datetime.fromisoformat(before.checkpoint["ts"])).total_seconds() if before else None,
        tokens=sum(_tokens(message) for message in messages),
        size=sizes.get(_id(item), 0),
        created=created,
        run_id=item.metadata.get("run_id"),
    )


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


def _messages(writes: Iterable[tuple[str, str, Any]]) -> Iterator[BaseMessage]:
    for _, _, value in writes:
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, BaseMessage):
                yield message


def _tokens(message: BaseMessage) -> int:
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return usage["total_tokens"] if usage else 0
