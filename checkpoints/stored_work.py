"""What the steps of a thread took, read from what they stored: tools, tokens and bytes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.constants import START

from .durable import DurableSaver
from .unreadable import check_columns, stored_value, values_of

_SIZES = "SELECT * FROM ({query}) AS sizes WHERE thread_id = ? AND checkpoint_id > ?"


class StoredWork:
    """What one step stored: its own writes, and those of the graphs in its nodes."""

    def __init__(self) -> None:
        self.size = 0
        """Bytes of its checkpoint, of what its tasks wrote and of all that the graphs in its nodes stored."""

        self._told: dict[str, tuple[str | None, int]] = {}
        self._given: set[str] = set()

    def note(self, values: Iterable[Any]) -> None:
        """Count the messages that tasks wrote; those that a graph passes on to the one around it count once."""
        for message in _messages(values):
            tool = message.name or "" if isinstance(message, ToolMessage) else None
            self._told[message.id or f"without id {len(self._told)}"] = (tool, _tokens(message))

    def note_given(self, values: Iterable[Any]) -> None:
        """Leave out the messages that a graph began with: they are of earlier steps."""
        self._given |= {message.id for message in _messages(values) if message.id}

    @property
    def tools(self) -> list[str]:
        """Tools that gave a result, once for each."""
        return [tool for tool, _ in self._new() if tool is not None]

    @property
    def tokens(self) -> int:
        """Tokens of the replies of models, sent and received."""
        return sum(tokens for _, tokens in self._new())

    def _new(self) -> list[tuple[str | None, int]]:
        return [told for identifier, told in self._told.items() if identifier not in self._given]


async def read_stored(saver: DurableSaver, thread: str, works: Mapping[str, StoredWork], *, since: str) -> None:
    """Add what the graphs in the nodes of steps stored, and the bytes of all.

    What such graphs stored between two checkpoints belongs to the later one: ids are in the order of time, and one
    process at a time runs a thread.

    Args:
        saver: the open database.
        thread: id of the thread.
        works: steps by the ids of the checkpoints that they ended in, without gaps.
        since: id of the checkpoint before all of them; empty for none.
    """
    ids, has_children = sorted(works), False
    query = _SIZES.format(query=saver.sizes_query)
    rows = await saver.database.fetch(query, (thread, since))
    with values_of(thread):
        for row in rows:
            check_columns(row, str, str, str)
    for _, namespace, checkpoint, size in rows:
        has_children = has_children or bool(namespace)
        if step := _step(ids, checkpoint):
            works[step].size += int(size)
    writes = await saver.database.fetch(saver.inner_messages_query, (thread, since)) if has_children else []
    for row in writes:
        with values_of(thread):
            check_columns(row, str, str)
            checkpoint, path, kind, value = row
            values = [stored_value(saver.serde, kind, value)]
        if step := _step(ids, checkpoint):
            works[step].note_given(values) if path.endswith(START) else works[step].note(values)


def _step(ids: Sequence[str], checkpoint: str) -> str | None:
    place = bisect_left(ids, checkpoint)
    return ids[place] if place < len(ids) else None


def _messages(values: Iterable[Any]) -> Iterator[BaseMessage]:
    for value in values:
        for message in value if isinstance(value, list) else [value]:
            if isinstance(message, BaseMessage):
                yield message


def _tokens(message: BaseMessage) -> int:
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return usage["total_tokens"] if usage else 0


def planner_tokens(before: CheckpointTuple) -> int:
    """The tokens that a plan's own model calls took in the step after a checkpoint, by the counters that it wrote.

    Its replies are no messages of the thread. What its agents took is counted where they ran, not where it is
    recorded.
    """
    earlier = before.checkpoint["channel_values"].get("progress") or {}
    written = [value for _, channel, value in before.pending_writes or () if channel == "progress"]
    own = [value for value in written if isinstance(value, dict) and "revisions" in value]
    if not own or own[-1]["reports"] > earlier.get("reports", 0):
        return 0
    same_task = own[-1]["task"] == earlier.get("task")
    return _total(own[-1]) - (_total(earlier) if same_task else 0)


def _total(progress: dict[str, Any]) -> int:
    usage = progress["usage"]
    return int(usage["input_tokens"]) + int(usage["output_tokens"])
