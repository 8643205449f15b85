"""The runs inside of a thread: of delegates, of plan steps, of the hub's roles."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from ..state.thread import ThreadRecord
from .session import Session


async def child_runs(session: Session, record: ThreadRecord) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    """Path of nodes and newest state of each child graph, in the order in which they began."""
    begun: dict[str, str] = {}
    for node in await session.saver.anodes(record.thread):
        if node.namespace:
            begun[node.namespace] = min(node.id, begun.get(node.namespace, node.id))
    for namespace in sorted(begun, key=lambda name: begun[name]):
        path = "/".join(part.partition(":")[0] for part in namespace.split("|"))
        yield path, await session.child_values(record, namespace)
