"""What a pruning deletes and what it must write first: the same for every database.

A delta channel is stored as its writes, and a checkpoint's value is rebuilt from those of its ancestors. So a
checkpoint that stays while its ancestors go gets the full value of each of its delta channels first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, Literal, cast
from uuid import UUID

from langgraph._internal._typing import MISSING
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, CheckpointTuple, DeltaChannelHistory
from langgraph.checkpoint.serde.types import _DeltaSnapshot

from ..state.errors import ThreadUnreadable, UsageError
from .channels import Channels, DeltaChannels

Strategy = Literal["keep_latest", "keep_since", "delete"]

_COUNTERS = "counters_since_delta_snapshot"
"""Where LangGraph counts the updates of each delta channel since its last full copy."""


@dataclass(frozen=True)
class Node:
    """One checkpoint of a thread, without its contents."""

    namespace: str
    """Checkpoint namespace; empty for the outermost graph."""

    id: str
    """Checkpoint id."""

    parent: str | None
    """Id of the checkpoint before it."""

    root: str | None = None
    """For a subgraph's checkpoint, the one of the outermost graph from which its run was entered."""


@dataclass(frozen=True)
class Pruning:
    """What to do, in this order."""

    anchored: Mapping[Node, str | None]
    """Checkpoints that need full values, and the kept ancestor that becomes their parent."""

    deleted: Sequence[Node]
    """Checkpoints that go, with their writes."""


def plan_pruning(nodes: Collection[Node], kept: Collection[Node], cut: Collection[Node] = ()) -> Pruning:
    """Keep `kept` and delete the rest. `cut` are kept checkpoints that lose writes their children stand on."""
    by_place = {(node.namespace, node.id): node for node in nodes}
    keeping, losing = set(kept), set(cut)

    def kept_ancestor(node: Node) -> str | None:
        seen = {node}
        parent = by_place.get((node.namespace, node.parent or ""))
        while parent is not None and parent not in keeping and parent not in seen:
            seen.add(parent)
            parent = by_place.get((parent.namespace, parent.parent or ""))
        return parent.id if parent in keeping and parent not in seen else None

    anchored = {}
    for node in keeping:
        parent = by_place.get((node.namespace, node.parent or ""))
        if parent is not None and (parent not in keeping or parent in losing):
            anchored[node] = kept_ancestor(node)
    return Pruning(anchored, [node for node in nodes if node not in keeping])


def keep(
    nodes: Collection[Node], strategy: Strategy | str, newest: int = 1, since: datetime | None = None
) -> list[Node]:
    """The checkpoints that a strategy keeps.

    `keep_latest` keeps the `newest` of each namespace, `keep_since` those and all made at or after `since`,
    `delete` none. The checkpoints of one call of a subgraph go with the one from which the call was made.

    Raises:
        UsageError: an unknown strategy, or one without its argument.
    """
    if strategy == "delete":
        return []
    if strategy not in ("keep_latest", "keep_since") or newest < 1 or (strategy == "keep_since") != (since is not None):
        raise UsageError("prune by keep_latest with at least 1 checkpoint to keep, keep_since with a time, or delete")
    ordered = sorted(nodes, key=lambda node: (node.namespace, node.id), reverse=True)
    kept: list[Node] = []
    for _, group in groupby(ordered, key=lambda node: node.namespace):
        for place, node in enumerate(group):
            if place < newest or (since is not None and made(node.id) >= since):
                kept.append(node)
    return _without_finished_calls(nodes, kept)


def _without_finished_calls(nodes: Collection[Node], kept: list[Node]) -> list[Node]:
    # The namespace of a call ends in its task's id after a colon; without one the subgraph outlives its calls.
    saved = {node.id for node in nodes if not node.namespace}
    gone = saved - {node.id for node in kept if not node.namespace}
    return [node for node in kept if ":" not in node.namespace or node.root not in gone]


def made(checkpoint_id: str) -> datetime:
    """When a checkpoint was made, by its id; an id that does not tell counts as new."""
    try:
        identifier = UUID(checkpoint_id)
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)
    if identifier.version != 6:
        return datetime.max.replace(tzinfo=UTC)
    fields = identifier.int
    ticks = (fields >> 80) << 12 | (fields >> 64) & 0xFFF
    return datetime(1582, 10, 15, tzinfo=UTC) + timedelta(microseconds=ticks // 10)


def missing_channels(found: CheckpointTuple, channels: DeltaChannels) -> Channels:
    """The delta channels whose value the checkpoint has not in full.

    Raises:
        ThreadUnreadable: they are of a graph that `channels` does not know, so that their values cannot be rebuilt.
    """
    stored, versions = found.checkpoint["channel_values"], found.checkpoint["channel_versions"]
    names = {*_counters(found.metadata), *(name for name, value in stored.items() if isinstance(value, _DeltaSnapshot))}
    deltas = names or {name for name in channels.names if name in versions and name not in stored}
    missing = [name for name in deltas if name in versions and name not in stored]
    if not missing:
        return {}
    known = channels.of(deltas, [name for name in versions if not _is_internal(name)])
    if known is None:
        thread = found.config["configurable"]["thread_id"]
        raise ThreadUnreadable(
            f"the history of thread {thread} cannot be cut, because the reducers of its channels"
            f" {', '.join(sorted(deltas))} are not known: a program that gives its state schema to"
            " open_saver(states=[*STATES, …]) can do it"
        )
    return {name: known[name] for name in sorted(missing)}


def with_full_values(
    found: CheckpointTuple, histories: Mapping[str, DeltaChannelHistory], channels: Channels
) -> tuple[Checkpoint, CheckpointMetadata]:
    """The checkpoint and its metadata with the full value of each channel in `histories`."""
    values = dict(found.checkpoint["channel_values"])
    for name, history in histories.items():
        values[name] = _DeltaSnapshot(_rebuild(channels[name], history))
    checkpoint = found.checkpoint.copy()
    checkpoint["channel_values"] = values
    metadata: dict[str, Any] = {**found.metadata}
    counters = {name: count for name, count in _counters(found.metadata).items() if name not in histories}
    metadata.pop(_COUNTERS, None)
    if counters:
        metadata[_COUNTERS] = counters
    return checkpoint, cast(CheckpointMetadata, metadata)


def _counters(metadata: CheckpointMetadata) -> dict[str, Any]:
    return cast(dict[str, Any], metadata).get(_COUNTERS) or {}


def _is_internal(channel: str) -> bool:
    """Whether a channel is LangGraph's own: that of a branch, a join, an input or a sent task."""
    return ":" in channel or channel.startswith("__")


def _rebuild(channel: Any, history: DeltaChannelHistory) -> Any:
    rebuilt = channel.from_checkpoint(history.get("seed", MISSING))
    rebuilt.replay_writes(history["writes"])
    return rebuilt.value


def taken(thread: str) -> UsageError:
    """The refusal to make a thread under an id that has one: two histories in one would be neither."""
    return UsageError(f"thread {thread} exists: give the new one another name")


def chain(nodes: Iterable[Node], tip: Node) -> list[Node]:
    """A checkpoint and its ancestors, newest first."""
    by_place = {(node.namespace, node.id): node for node in nodes}
    line = [tip]
    while (parent := by_place.get((tip.namespace, line[-1].parent or ""))) is not None and parent not in line:
        line.append(parent)
    return line
