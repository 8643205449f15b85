"""Threads of the labyrinth with a record and a payload: one that waits within its subgraph, and one at its end."""

from __future__ import annotations

from typing import Any

from labyrinth import build, task, texts
from langgraph.types import Command

from clew.checkpoints.durable import DurableSaver
from clew.checkpoints.journal import CallKey
from clew.checkpoints.threads import thread_registry
from clew.state.thread import ThreadRecord


def on(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}, "metadata": {"run_id": f"run of {thread}"}}


async def history(graph: Any, thread: str) -> list[Any]:
    """Id, messages and next nodes of each checkpoint, newest first."""
    found = [state async for state in graph.aget_state_history(on(thread))]
    return [
        (state.config["configurable"]["checkpoint_id"], texts(state.values) if state.values else [], state.next)
        for state in found
    ]


async def waiting(saver: DurableSaver, thread: str = "t") -> Any:
    """A thread with a record and a payload that waits for an answer within a subgraph."""
    graph = build(saver)
    await graph.ainvoke(task(), on(thread), durability="sync")
    await thread_registry(saver).put(ThreadRecord(thread=thread, task="find the way out"))
    await saver.blobs.put(thread, b"a picture")
    return graph


async def answered(saver: DurableSaver) -> Any:
    graph = await waiting(saver)
    await graph.ainvoke(Command(resume="left"), on("t"), durability="sync")
    return graph


async def pending_calls(graph: Any, thread: str = "t") -> dict[CallKey, str]:
    """Keys of calls that tasks may make from the newest checkpoints of a waiting thread and its subgraph."""
    state = await graph.aget_state(on(thread), subgraphs=True)
    inner = state.tasks[0].state
    return {
        CallKey(thread, found.config["configurable"].get("checkpoint_ns", ""), found.tasks[0].id, "call"): str(
            found.config["configurable"]["checkpoint_id"]
        )
        for found in (state, inner)
    }
