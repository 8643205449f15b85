"""The reducer of the `messages` channel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from langchain_core.messages import AnyMessage, BaseMessage, RemoveMessage, convert_to_messages
from langgraph.graph.message import REMOVE_ALL_MESSAGES


class Fresh(list[AnyMessage]):
    """Messages with ids that no other message of the thread has: they are appended without a look at the history.

    It only saves time. In a checkpoint it is a list like any other, and a replay gives the same history.
    """


def merge_messages(state: Sequence[AnyMessage], writes: Sequence[Any]) -> list[AnyMessage]:
    """Fold a batch of writes into the history: append, replace by id, remove by id, or remove all.

    Deterministic and batching-invariant, as `DeltaChannel` asks:
    `merge(merge(s, a), b) == merge(s, a + b)`. Removing an unknown id does nothing.
    """
    if all(type(write) is Fresh for write in writes):
        return [*state, *chain.from_iterable(writes)]
    incoming = [message for write in writes for message in _messages(write)]
    if _only_appends(state, incoming):
        return [*state, *incoming]
    return _merge(state, incoming)


def _messages(write: Any) -> Iterable[AnyMessage]:
    items = write if isinstance(write, list) else [write]
    if all(isinstance(item, BaseMessage) for item in items):
        return items
    return convert_to_messages(items)  # type: ignore[return-value]


def _only_appends(state: Sequence[AnyMessage], incoming: Sequence[AnyMessage]) -> bool:
    ids = {message.id for message in incoming}
    return (
        len(ids) == len(incoming)
        and None not in ids
        and not any(isinstance(message, RemoveMessage) for message in incoming)
        and ids.isdisjoint(message.id for message in state)
    )


def _merge(state: Sequence[AnyMessage], incoming: Iterable[AnyMessage]) -> list[AnyMessage]:
    merged: list[AnyMessage | None] = list(state)
    places: dict[str | None, int] = {message.id: place for place, message in enumerate(state)}
    for message in incoming:
        if message.id == REMOVE_ALL_MESSAGES and isinstance(message, RemoveMessage):
            merged.clear()
            places.clear()
        elif isinstance(message, RemoveMessage):
            if (place := places.pop(message.id, None)) is not None:
                merged[place] = None
        else:
            message = message if message.id else _with_id(message, places)
            place = places.setdefault(message.id, len(merged))
            if place == len(merged):
                merged.append(message)
            else:
                merged[place] = message
    return [message for message in merged if message is not None]


def _with_id(message: AnyMessage, places: Mapping[str | None, int]) -> AnyMessage:
    # LangGraph gives ids to message objects before it stores them; strings and pairs reach the reducer bare,
    # and a replay must give them the same id again.
    for place in count(len(places)):
        identifier = str(uuid5(NAMESPACE_OID, f"{place}:{message.type}:{message.content}"))
        if identifier not in places:
            return message.model_copy(update={"id": identifier})
    raise AssertionError("unreachable: count() has no end")
