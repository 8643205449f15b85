"""Deleting what some runs made leaves nothing of them, and nothing of a thread that they alone had made."""

import asyncio

import pytest
from labyrinth import say, task, texts
from langgraph.types import Command

from clew.checkpoints.history import disk_usage
from clew.checkpoints.inbox import Inbox
from clew.checkpoints.journal import CallKey, Journal


def on(thread, run_id):
    return {"configurable": {"thread_id": thread}, "metadata": {"run_id": run_id}}


async def begin(saver, graph, thread, run_id):
    """A run that waits for an answer, with a payload, a call in the journal and an order in the inbox."""
    await graph.ainvoke(task(), on(thread, run_id), durability="sync")
    newest = max(node.id for node in await saver.anodes(thread) if not node.namespace)
    await Journal(saver).begin(CallKey(thread, "", f"task of {thread}", "call"), newest)
    await Inbox(saver).send(thread, "say", "hello")
    return await saver.blobs.put(thread, f"a picture of {thread}")


async def delete(saver, *run_ids, sync=False):
    await (asyncio.to_thread(saver.delete_for_runs, run_ids) if sync else saver.adelete_for_runs(run_ids))


async def rows(saver, thread):
    """How many rows each table has of a thread."""
    stored = {
        table: (await saver.database.fetch(f"SELECT count(*) FROM {table} WHERE {column} = ?", (thread,)))[0][0]
        for table, column in [("journal", "thread"), ("inbox", "thread"), ("checkpoints", "thread_id")]
    }
    return {**stored, "payloads": len(await saver.blobs.references(thread))}


@pytest.mark.parametrize("sync", [False, True])
async def test_of_a_thread_that_was_emptied_nothing_is_left(saver, graph, sync):
    for thread in ("t", "u"):
        await begin(saver, graph, thread, f"run of {thread}")
    other = await rows(saver, "u")
    assert all(other.values())
    await delete(saver, "run of t", sync=sync)
    assert not any((await rows(saver, "t")).values())
    assert await rows(saver, "u") == other
    assert [size.thread for size in await disk_usage(saver)] == ["u"]


@pytest.mark.parametrize("sync", [False, True])
async def test_a_run_that_left_only_pending_writes_is_deleted_too(saver, graph, sync):
    await begin(saver, graph, "t", "first")
    state = await graph.aget_state(on("t", "first"))
    place = {**state.config, "metadata": {"run_id": "second"}}
    await saver.aput_writes(place, [("messages", [say("a late one")])], "00000000-0000-0000-0000-000000000001")
    assert len((await saver.aget_tuple(state.config)).pending_writes) > 1
    await delete(saver, "second", sync=sync)
    assert (await graph.aget_state(on("t", "first"))).values == state.values
    found = (await saver.aget_tuple(state.config)).pending_writes
    assert [channel for _, channel, _ in found] == ["__interrupt__"]
    result = await graph.ainvoke(Command(resume="left"), on("t", "third"), durability="sync")
    assert "answer left" in texts(result)[:4]


async def test_writes_without_any_checkpoint_are_deleted_with_their_run(saver):
    place = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "1"}, "metadata": {"run_id": "r"}}
    await saver.aput_writes(place, [("messages", [say("the only one")])], "00000000-0000-0000-0000-000000000001")
    await saver.blobs.put("t", "a picture")
    assert [size.thread for size in await disk_usage(saver)] == ["t"]
    await delete(saver, "r")
    assert await disk_usage(saver) == []
    assert await saver.blobs.references("t") == {}


async def test_the_calls_of_deleted_checkpoints_are_forgotten_and_those_of_others_are_not(saver, graph):
    await begin(saver, graph, "t", "early")
    await graph.ainvoke(Command(resume="left"), on("t", "late"), durability="sync")
    newest = max(node.id for node in await saver.anodes("t") if not node.namespace)
    await Journal(saver).begin(CallKey("t", "", "later task", "call"), newest)
    await delete(saver, "early")
    assert await saver.database.fetch("SELECT task FROM journal") == [("later task",)]
    assert (await rows(saver, "t"))["payloads"] == 1
