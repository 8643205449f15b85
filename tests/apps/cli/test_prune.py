from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from contextlib import closing, contextmanager
from typing import Annotated

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.thread import ThreadRecord

ANSWER = "All done."


@pytest.fixture
def two(clew, script, calls):
    """Two finished threads, the second one longer."""
    look = [calls(("bash", {"command": f"echo {number}"})) for number in range(2)]
    clew("run", "it", "--model", script(ANSWER, name="short"), "--thread", "t1")
    clew("run", "it", "--model", script(*look, ANSWER, name="long"), "--thread", "t2")


@contextmanager
def holding(path, thread):
    """The lease of a thread, held by this process."""

    async def hold(held, done):
        async with open_saver(path) as saver, thread_registry(saver).lease(thread, "a test"):
            held.set()
            await asyncio.to_thread(done.wait)

    held, done = threading.Event(), threading.Event()
    holder = threading.Thread(target=lambda: asyncio.run(hold(held, done)))
    holder.start()
    assert held.wait(60)
    try:
        yield
    finally:
        done.set()
        holder.join()


def usage(clew):
    data = json.loads(clew("du", "--json").out)
    return {thread["thread"]: thread for thread in data["threads"]}, data["total"]


def test_du_lists_the_bytes_of_each_thread_the_largest_first_and_the_total(clew, two):
    header, long, short, total = clew("du").out.splitlines()
    assert header.split() == ["thread", "checkpoints", "state", "payloads", "bytes"]
    assert [line.split()[0] for line in (long, short, total)] == ["t2", "t1", "total"]
    threads, bytes_in_all = usage(clew)
    assert sum(thread["state"] + thread["payloads"] for thread in threads.values()) == bytes_in_all
    assert threads["t2"]["checkpoints"] > threads["t1"]["checkpoints"] > 1
    assert int(total.split()[1]) == sum(thread["checkpoints"] for thread in threads.values())


def test_a_pruned_thread_keeps_its_state_and_goes_on(clew, script, two):
    before, _ = usage(clew)
    said = json.loads(clew("show", "t2", "--json").out)["messages"]
    result = clew("prune", "t2", "--keep", "2")
    assert result.code == 0
    gone = before["t2"]["checkpoints"] - 2
    assert f"deleted {gone} checkpoints of 1 thread; freed " in result.out
    assert result.out.splitlines()[1].split()[:3] == ["t2", str(gone + 2), str(gone)]
    after, _ = usage(clew)
    assert after["t1"] == before["t1"]
    assert after["t2"]["checkpoints"] == 2
    assert json.loads(clew("show", "t2", "--json").out)["messages"] == said
    more = clew("run", "again", "--thread", "t2", "--model", script(*["no"] * 3, "More.", name="more"), "--json")
    assert (more.code, more.end["answer"]) == (0, "More.")


def test_a_pruned_thread_still_waits_for_its_answer(clew, script, calls):
    model = script(calls(("ask_human", {"inquire": "Colour?"}), ("ask_human", {"inquire": "Size?"})), ANSWER)
    asked = clew("run", "do it", "--model", model, "--thread", "t1", "--json")
    ids = {event["question"]: event["id"] for event in asked.events if event["event"] == "question"}
    assert clew("resume", "t1", "--answer", f"{ids['Size?']}=large").code == 3
    assert clew("prune", "t1").code == 0
    assert usage(clew)[0]["t1"]["checkpoints"] == 1
    answered = clew("resume", "t1", "--answer", "red", "--json")
    assert (answered.code, answered.end["answer"]) == (0, ANSWER)
    said = [message["data"]["content"] for message in json.loads(clew("show", "t1", "--json").out)["messages"]]
    assert said[2:4] == ["red", "large"]


def test_a_thread_in_use_is_left_as_it_is(clew, two, folder):
    with holding(folder / ".clew/clew.db", "t2"):
        result = clew("prune", "--keep-latest")
    assert result.code == 0
    assert "t2 is being run, or was used meanwhile: left as it was" in result.out
    sizes = usage(clew)[0]
    assert sizes["t1"]["checkpoints"] == 1 < sizes["t2"]["checkpoints"]


def test_a_thread_of_a_foreign_graph_is_left_and_named_and_the_others_are_pruned(clew, two, folder):
    async def run_foreign():
        builder = StateGraph(Foreign)
        builder.add_node("speak", lambda state: {"messages": ["two"]})
        builder.add_edge(START, "speak")
        async with open_saver(folder / ".clew/clew.db") as saver:
            place = {"configurable": {"thread_id": "foreign"}}
            graph = builder.compile(checkpointer=saver)
            return await graph.ainvoke({"messages": ["one"]}, place, durability="sync")

    class Foreign(TypedDict):
        messages: Annotated[list, DeltaChannel(lambda state, writes: [*state, *(" ".join(write) for write in writes)])]

    asyncio.run(run_foreign())
    result = clew("prune", "--keep-latest", "--json")
    assert result.code == 1
    assert result.err.startswith("clew: the history of thread foreign cannot be cut, because the reducers of its")
    assert len(result.err.splitlines()) == 1
    data = json.loads(result.out)
    assert ([each["thread"] for each in data["pruned"]], list(data["refused"])) == (["t2", "t1"], ["foreign"])
    assert {thread: size["checkpoints"] for thread, size in usage(clew)[0].items()} == {"foreign": 3, "t1": 1, "t2": 1}


def test_a_thread_without_checkpoints_is_listed_and_deleted(clew, two, folder):
    async def remember():
        async with open_saver(folder / ".clew/clew.db") as saver:
            await thread_registry(saver).put(ThreadRecord(thread="empty"))
            await saver.blobs.put("empty", b"a picture")

    asyncio.run(remember())
    assert usage(clew)[0]["empty"] == {"thread": "empty", "checkpoints": 0, "state": 0, "payloads": 9}
    assert clew("prune", "empty", "--keep-latest").out == "nothing to prune\n"
    assert clew("prune", "--older-than", "1h", "--delete").out == "nothing to prune\n"
    result = clew("prune", "empty", "--delete")
    assert (result.code, "deleted 0 checkpoints of 1 thread; freed 9 B" in result.out) == (0, True)
    assert (list(usage(clew)[0]), clew("show", "empty").code) == (["t2", "t1"], 2)


def test_a_thread_that_cannot_be_read_is_refused_or_deleted_and_the_others_are_pruned(clew, two, folder):
    with closing(sqlite3.connect(folder / ".clew/clew.db")) as database, database:
        database.execute("UPDATE checkpoints SET parent_checkpoint_id = x'c0' WHERE thread_id = 't2'")
    result = clew("prune", "--keep-latest")
    assert result.code == 1
    assert result.err.startswith("clew: thread t2 holds a value that is damaged: restore")
    assert usage(clew)[0]["t1"]["checkpoints"] == 1 < usage(clew)[0]["t2"]["checkpoints"]
    assert clew("prune", "t2", "--delete").code == 0
    assert list(usage(clew)[0]) == ["t1"]


def test_json_tells_what_was_deleted_and_what_that_freed(clew, two):
    before, total = usage(clew)
    result = clew("prune", "--keep-latest", "--json")
    data = json.loads(result.out)
    assert {each["thread"]: each["deleted"] for each in data["pruned"]} == {
        thread: size["checkpoints"] - 1 for thread, size in before.items()
    }
    assert data["busy"] == []
    assert data["freed"] == total - usage(clew)[1] > 0


def test_only_threads_unused_for_the_time_are_pruned(clew, two):
    assert clew("prune", "--older-than", "1h").out == "nothing to prune\n"
    assert clew("prune", "--older-than", "0m", "--delete", "t1").code == 0
    assert list(usage(clew)[0]) == ["t2"]
    assert clew("show", "t1").code == 2
    assert clew("prune", "--keep-since", "1h").out == "nothing to prune\n"


@pytest.mark.parametrize(("argv", "says"), [([], "say what to prune"), (["nothread"], "no thread nothread")])
def test_a_prune_must_say_what(clew, two, argv, says):
    result = clew("prune", *argv)
    assert (result.code, says in result.err) == (2, True)


@pytest.mark.parametrize("argv", [["--keep", "2", "--delete"], ["--older-than", "soon"], ["--older-than", "99999w"]])
def test_what_contradicts_itself_or_is_no_age_is_a_usage_error(clew, argv):
    assert clew("prune", *argv).code == 2


def test_on_a_terminal_nothing_is_deleted_without_a_yes(clew, two, terminal):
    before = usage(clew)
    terminal("\n")
    refused = clew("prune", "--keep-latest")
    assert refused.code == 0
    gone = sum(size["checkpoints"] - 1 for size in before[0].values())
    assert refused.err == f"delete {gone} checkpoints of 2 threads? [y/N] nothing was deleted\n"
    assert usage(clew) == before
    terminal("y\n")
    assert "deleted" in clew("prune", "t1").out
    assert "deleted" in clew("prune", "t2", "--yes").out
    assert {size["checkpoints"] for size in usage(clew)[0].values()} == {1}
