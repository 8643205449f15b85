"""Tasks of a thread at agents elsewhere, which work on although nobody waits for them here any more."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from langgraph.types import StateSnapshot

from ..graphs import remote_key
from ..state.remote import RemoteTask
from ..state.settings import Settings


class Withdrawal(NamedTuple):
    """What became of tasks that were to be cancelled."""

    done: Sequence[str] = ()
    """Ids of those that were cancelled, or had ended."""

    left: Sequence[str] = ()
    """What a person is told of each of the others."""


def remote_tasks(snapshot: StateSnapshot, states: Collection[str]) -> Iterator[RemoteTask]:
    """The tasks in one of these states that a thread has given to agents elsewhere, at any depth of its agents."""
    task = snapshot.values.get("remote") if isinstance(snapshot.values, Mapping) else None
    if task and task["id"] and task["state"] in states and "agent" in task:
        yield task
    for child in snapshot.tasks:
        if isinstance(child.state, StateSnapshot):
            yield from remote_tasks(child.state, states)


async def withdraw_all(tasks: Collection[RemoteTask], settings: Settings) -> Withdrawal:
    """Cancel the tasks where they are worked on, all at once; it takes as long as the slowest agent may take."""
    if not tasks:
        return Withdrawal()
    from ..tools.a2a.withdraw import withdraw  # an extra

    told = await asyncio.gather(
        *(withdraw(task["agent"], remote_key(task["agent"], settings), task["id"]) for task in tasks)
    )
    done = [task["id"] for task, left in zip(tasks, told, strict=True) if not left]
    return Withdrawal(done, [left for left in told if left])
