"""Months of threads can be kept, and pruned by age, without touching what is in use."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import pytest
from labyrinth import KNOWN, build, say, task, texts
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from clew.checkpoints.channels import STATES
from clew.checkpoints.cleanup import Cleanup, prune_threads
from clew.checkpoints.history import disk_usage
from clew.checkpoints.inbox import Inbox
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import UsageError
from clew.state.thread import ThreadRecord


def on(thread):
    return {"configurable": {"thread_id": thread}}


async def count(saver, thread):
    return len([node for node in await saver.anodes(thread) if not node.namespace])


async def test_only_threads_of_the_age_are_pruned_and_busy_ones_are_left(saver):
    graph = build(saver)
    for thread in ("a", "b", "busy"):
        await graph.ainvoke(task(), on(thread), durability="sync")
        await thread_registry(saver).put(ThreadRecord(thread=thread))
    assert await prune_threads(saver, older_than=timedelta(hours=1)) == Cleanup()
    async with thread_registry(saver).lease("busy", "a run"):
        assert await prune_threads(saver, older_than=timedelta(0)) == Cleanup(["a", "b"], ["busy"])
    assert [await count(saver, thread) for thread in ("a", "b")] == [1, 1]
    assert await count(saver, "busy") > 1
    assert await prune_threads(saver, ["b"], strategy="delete") == Cleanup(["b"])
    assert await count(saver, "b") == 0
    assert {record.thread for record in await thread_registry(saver).list()} == {"a", "busy"}


async def test_what_was_made_since_a_time_is_kept(saver):
    graph = build(saver)
    await graph.ainvoke(task(), on("t"), durability="sync")
    moment = datetime.now(UTC)
    await graph.aupdate_state(on("t"), {"messages": [say("one")]}, as_node="append")
    await graph.aupdate_state(on("t"), {"messages": [say("two")]}, as_node="append")
    before = texts((await graph.aget_state(on("t"))).values)
    await saver.aprune(["t"], strategy="keep_since", since=moment)
    assert await count(saver, "t") == 2
    assert texts((await graph.aget_state(on("t"))).values) == before
    assert before[-2:] == ["one", "two"]


async def test_what_has_no_checkpoints_is_told_and_can_be_deleted(saver):
    registry = thread_registry(saver)
    await registry.put(ThreadRecord(thread="record"))
    await saver.blobs.put("payload", b"a picture")
    await Inbox(saver).send("order", "say", "hello")
    await build(saver).ainvoke(task(), on("t"), durability="sync")
    sizes = {size.thread: (size.checkpoints > 0, size.state > 0, size.payloads) for size in await disk_usage(saver)}
    assert sizes == {
        "t": (True, True, 0),
        "payload": (False, False, 9),
        "order": (False, False, 0),
        "record": (False, False, 0),
    }
    assert await prune_threads(saver, older_than=timedelta(hours=1), strategy="delete") == Cleanup()
    assert await prune_threads(saver, ["record", "t"], older_than=timedelta(0), strategy="delete") == Cleanup(
        ["record", "t"]
    )
    async with registry.lease("payload", "a run"):
        assert await prune_threads(saver, strategy="delete") == Cleanup(["order"], ["payload"])
    assert await prune_threads(saver, strategy="delete") == Cleanup(["payload"])
    assert await disk_usage(saver) == []
    assert await saver.blobs.references("payload") == {}


@pytest.mark.parametrize("options", [{"strategy": "keep_all"}, {"strategy": "keep_since"}, {"newest": 0}])
async def test_a_wrong_strategy_is_refused(saver, options):
    with pytest.raises(UsageError, match="prune by keep_latest"):
        await saver.aprune(["t"], **options)


def extend(state, writes):
    return [*state, *(item for write in writes for item in write)]


class Foreign(TypedDict):
    log: Annotated[list, DeltaChannel(extend, snapshot_frequency=1000)]


def foreign(saver):
    async def note(state):
        return {"log": ["noted"]}

    builder = StateGraph(Foreign)
    builder.add_node("note", note)
    builder.add_edge(START, "note")
    builder.add_edge("note", END)
    return builder.compile(checkpointer=saver)


async def test_a_thread_of_an_unknown_graph_stays_as_it_was_and_the_others_are_pruned(tmp_path):
    async with open_saver(tmp_path / "clew.db", states=KNOWN) as saver:
        for thread in ("a", "c"):
            await build(saver).ainvoke(task(), on(thread), durability="sync")
        await foreign(saver).ainvoke({"log": ["begun"]}, on("b"))
        checkpoints = await count(saver, "b")
        done = await prune_threads(saver)
        assert (done.pruned, done.busy, list(done.refused)) == (["a", "c"], [], ["b"])
        assert "history of thread b cannot be cut, because the reducers of its channels log" in done.refused["b"]
        assert "open_saver(states=[*STATES, …])" in done.refused["b"]
        assert await count(saver, "b") == checkpoints
    async with open_saver(tmp_path / "clew.db", states=[*STATES, Foreign]) as saver:
        assert await prune_threads(saver, ["b"]) == Cleanup(["b"])
        assert await count(saver, "b") == 1
        assert (await foreign(saver).aget_state(on("b"))).values == {"log": ["begun", "noted"]}
