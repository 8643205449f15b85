"""The SQLite saver works sync and async, from several processes, without blocking where it must not."""

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from labyrinth import KNOWN, build, task, texts
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import END, START, StateGraph

from clew.checkpoints.open import open_saver
from clew.state.agent import AgentState

WRITER = """
import asyncio, sys
from labyrinth import build, task
from langgraph.types import Command
from clew.checkpoints.open import open_saver

async def main(path, name):
    async with open_saver(path) as saver:
        graph = build(saver)
        for number in range(3):
            config = {"configurable": {"thread_id": f"{name}-{number}"}}
            await graph.ainvoke(task(), config, durability="sync")
            await graph.ainvoke(Command(resume="left"), config, durability="sync")

asyncio.run(main(*sys.argv[1:]))
"""


def on(thread):
    return {"configurable": {"thread_id": thread}}


async def test_several_processes_write_one_file_at_once(tmp_path, request):
    path = tmp_path / "clew.db"
    support = request.config.rootpath / "tests" / "support"
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITER, str(path), name), env={**os.environ, "PYTHONPATH": str(support)}
        )
        for name in "abc"
    ]
    assert [await writer.wait() for writer in writers] == [0, 0, 0]
    async with open_saver(path) as saver:
        states = [await build(saver).aget_state(on(f"{name}-{number}")) for name in "abc" for number in range(3)]
    assert {(len(state.values["messages"]), state.next) for state in states} == {(7, ())}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_what_was_committed_is_there_after_a_kill(tmp_path):
    path = tmp_path / "clew.db"
    script = f"""
import asyncio, os, signal
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.thread import ThreadRecord

async def main():
    async with open_saver({str(path)!r}) as saver:
        await thread_registry(saver).put(ThreadRecord(thread="t"))
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""
    killed = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script], check=False)
    assert killed.returncode == -9
    async with open_saver(path) as saver:
        assert await saver.database.fetch("SELECT thread FROM threads") == [("t",)]


async def test_the_sync_interface_does_what_the_async_one_does(tmp_path):
    def speak(state):
        return {"messages": [AIMessage("hello", id="a")]}

    builder = StateGraph(AgentState)
    builder.add_node("speak", speak)
    builder.add_edge(START, "speak")
    builder.add_edge("speak", END)
    async with open_saver(tmp_path / "clew.db") as saver:
        graph = builder.compile(checkpointer=saver)
        config = {**on("t"), "metadata": {"run_id": "first"}}
        await asyncio.to_thread(graph.invoke, {"messages": [HumanMessage("hi", id="h")]}, config, durability="sync")
        second = {**on("t"), "metadata": {"run_id": "second"}}
        graph.invoke({"messages": [HumanMessage("more", id="m")]}, second, durability="sync")
        assert len(list(saver.list(on("t")))) == len([found async for found in saver.alist(on("t"))]) == 6
        assert len(list(saver.list(on("t"), limit=2))) == 2
        whole = texts(graph.get_state(on("t")).values)
        assert sorted(whole) == ["hello", "hi", "more"]
        saver.copy_thread("t", "u")
        saver.prune(["u"])
        assert texts(graph.get_state(on("u")).values) == whole
        saver.delete_thread("u")
        saver.delete_for_runs(["second"])
        assert texts(graph.get_state(on("t")).values) == ["hi", "hello"]
        assert [found.config["configurable"]["thread_id"] for found in saver.list(None)] == ["t"] * 3


async def test_a_long_listing_is_read_whole_and_in_order(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        graph = build(saver)
        for thread in range(12):
            await graph.ainvoke(task(), on(str(thread)), durability="sync")
        places = [found.config["configurable"] async for found in saver.alist(None)]
        keys = [(place["checkpoint_id"], place["thread_id"], place["checkpoint_ns"]) for place in places]
        assert len(keys) == len(set(keys)) > 100
        assert [key[0] for key in keys] == sorted((key[0] for key in keys), reverse=True)
        assert len([found async for found in saver.alist(None, limit=60)]) == 60
        before = places[49]["checkpoint_id"]
        older = [found async for found in saver.alist(None, before={"configurable": {"checkpoint_id": before}})]
        assert len(older) == len(keys) - 50


TOLD = [{"place": {"name": "Kréta"}}, {"ways": ["é", 1, None]}, {"note": "ü"}, {"note": None}]


async def test_checkpoints_are_found_by_whatever_their_metadata_hold(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        for number, metadata in enumerate([*TOLD, {"run_id": "r"}]):
            await saver.aput(on(str(number)), empty_checkpoint(), metadata, {})

        async def found(**conditions):
            listed = [each.config["configurable"] async for each in saver.alist(None, filter=conditions)]
            return sorted(place["thread_id"] for place in listed)

        assert [await found(**metadata) for metadata in TOLD[:3]] == [["0"], ["1"], ["2"]]
        assert await found(run_id="r") == ["4"]
        assert await found(run_id=None) == ["0", "1", "2", "3"]
        assert await found(run_id=None, note=None) == ["0", "1", "3"]


async def use(path, **options):
    async with open_saver(path, states=KNOWN, **options) as saver:
        graph = build(saver)
        await graph.ainvoke(task(), on("t"), durability="sync")
        await saver.blobs.put("t", "text")
        await saver.aprune(["t"])


async def test_in_a_thread_nothing_blocks_the_event_loop(tmp_path):
    with blockbuster_ctx("clew.checkpoints") as blockbuster:
        assert blockbuster
        await use(tmp_path / "clew.db", in_thread=True)
        with pytest.raises(BlockingError):
            await use(tmp_path / "other.db")


async def test_nothing_is_left_open(tmp_path):
    await use(tmp_path / "clew.db")
    await use(tmp_path / "clew.db", in_thread=True)
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("clew-sqlite")]
    for thread in ours:
        thread.join(10)
    assert not any(thread.is_alive() for thread in ours)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clew.db", "clew.db-blobs"]


async def test_the_file_of_payloads_is_closed_also_where_closing_the_other_one_fails(tmp_path):
    async def fail():
        async with open_saver(tmp_path / "clew.db", in_thread=True) as saver:
            await saver.blobs.put("t", "text")
            assert (tmp_path / "clew.db-blobs-wal").exists()
            saver.database.close()

    with pytest.raises(RuntimeError, match="after shutdown"):
        await fail()
    assert not (tmp_path / "clew.db-blobs-wal").exists()


async def test_the_event_loop_goes_on_while_a_file_is_compacted(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        await build(saver).ainvoke(task(), on("t"), durability="sync")
        compaction, ticks = asyncio.create_task(saver.acompact()), 0
        while not compaction.done():
            await asyncio.sleep(0)
            assert (await build(saver).aget_state(on("t"))).values
            ticks += 1
        await compaction
    assert ticks > 1
