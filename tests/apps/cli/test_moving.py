from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest
from labyrinth import build, task

from clew.checkpoints.export import export_thread
from clew.checkpoints.open import open_saver
from clew.checkpoints.thread_file import MAGIC

COLOUR = ("ask_human", {"inquire": "Which colour?"})


@pytest.fixture
def waiting(clew, script, calls):
    """A thread that asks a person."""
    clew("run", "paint it", "--model", script(calls(COLOUR), "Painted."), "--thread", "t1")
    return "t1"


def shown(clew, thread, *arguments):
    return json.loads(clew("show", thread, "--json", *arguments).out)


def history(clew, thread, *arguments):
    lines = clew("history", thread, "--json", *arguments).out.splitlines()
    return [json.loads(line)["checkpoint"] for line in lines]


def test_an_exported_thread_waits_for_the_same_answer_in_another_database(clew, waiting):
    result = clew("export", waiting, "--json")
    file = Path("t1.clew")
    size = file.stat().st_size
    assert (result.code, json.loads(result.out)) == (0, {"thread": "t1", "file": "t1.clew", "bytes": size})
    imported = clew("import", file, "--db", "other.db", "--json")
    assert imported.code == 0
    data = json.loads(imported.out)
    (question,) = data["questions"]
    assert (data["thread"], data["status"], question["question"]) == ("t1", "waiting", "Which colour?")
    assert history(clew, "t1", "--db", "other.db") == history(clew, "t1")
    assert shown(clew, "t1", "--db", "other.db")["messages"] == shown(clew, "t1")["messages"]
    answered = clew("resume", "t1", "--answer", "red", "--db", "other.db", "--json")
    assert (answered.code, answered.end["answer"]) == (0, "Painted.")
    assert shown(clew, "t1")["status"] == "waiting"


def test_plain_lines_say_where_the_file_is_and_how_to_go_on(clew, waiting):
    exported = clew("export", waiting, "there.clew")
    assert exported.code == 0
    assert "wrote thread t1 to there.clew (" in exported.out
    assert exported.out.endswith("clew import there.clew\n")
    imported = clew("import", "there.clew", "--thread", "t2")
    assert (imported.code, imported.out) == (0, "t2 is here, waiting (input): clew resume t2\n")


def test_a_thread_whose_workspace_is_elsewhere_gets_one_here(clew, waiting, folder):
    workspace = Path(shown(clew, waiting)["workspace"])
    clew("export", waiting)
    shutil.rmtree(workspace, ignore_errors=True)
    clew("import", "t1.clew", "--thread", "t2")
    assert shown(clew, "t2")["workspace"] == f"{folder}/.clew/workspaces/t2"


def test_a_thread_that_was_cut_off_arrives_paused(clew, waiting):
    clew("fork", waiting, "--at", history(clew, waiting)[1])
    clew("export", waiting)
    clew("import", "t1.clew", "--thread", "t2")
    data = shown(clew, "t2")
    assert (data["status"], data["reason"]) == ("waiting", "paused")
    again = clew("resume", "t2", "--json")
    assert (again.code, again.end["reason"]) == (3, "input")


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["export", "t1", "taken"], "taken cannot be written (File exists)"),
        (["export", "nothread"], "no thread nothread"),
        (["import", "taken"], "taken is no thread: give a file that `clew export` wrote"),
        (["import", "none.clew"], "none.clew cannot be read"),
        (["import", "good.clew"], "thread t1 exists"),
    ],
)
def test_a_mistake_is_one_line_and_changes_nothing(clew, waiting, folder, argv, says):
    clew("export", waiting, "good.clew")
    (folder / "taken").write_text("something else")
    result = clew(*argv)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert len(result.err.splitlines()) == 1
    assert (folder / "taken").read_text() == "something else"
    assert [json.loads(line)["thread"] for line in clew("threads", "--json").out.splitlines()] == ["t1"]


@pytest.mark.parametrize(
    "harm",
    [
        lambda whole: whole[:-20],
        lambda whole: whole[: len(MAGIC)],
        lambda whole: MAGIC + b"\xff" * 8 + whole[len(MAGIC) + 8 :],
        lambda whole: MAGIC + b"\0\0\0\7" + whole[len(MAGIC) + 4 :],
    ],
    ids=["half", "first line", "length beyond all numbers", "length beyond all memory"],
)
def test_a_file_that_is_not_whole_is_refused_with_code_1_and_leaves_nothing(clew, waiting, folder, harm):
    clew("export", waiting, "whole.clew")
    (folder / "half.clew").write_bytes(harm((folder / "whole.clew").read_bytes()))
    result = clew("import", "half.clew", "--thread", "t2")
    assert (result.code, result.out) == (1, "")
    assert result.err == "clew: half.clew is cut short or damaged: export the thread again\n"
    assert clew("show", "t2").code == 2


async def without_a_record(folder):
    """A file with a thread that a graph of somebody else's made, and the same thread in a database."""
    async with open_saver(folder / "made.db") as saver:
        await build(saver).ainvoke(task(), {"configurable": {"thread_id": "t2"}}, durability="sync")
        await export_thread(saver, "t2", folder / "t2.clew")


def test_a_thread_without_a_record_is_not_imported_half_but_can_be_deleted(clew, waiting, folder):
    asyncio.run(without_a_record(folder))
    result = clew("import", "t2.clew")
    assert (result.code, result.out) == (2, "")
    assert "the thread has no record of how it was begun, so clew cannot run it" in result.err
    clew("export", waiting)
    assert clew("import", "t1.clew", "--thread", "t2").code == 0
    assert clew("delete", "t2", "--db", "made.db").code == 0
    assert clew("delete", "t2", "--db", "made.db").code == 2


@pytest.fixture
def cut_off(clew, script, calls, start, folder):
    """A thread whose process was killed while a command of it ran, and the file in which that leaves a line."""
    effects = folder / "effects"
    model = script(calls(("bash", {"command": f"echo paid >> {effects}; sleep 600"})), "Done.")
    process = start("run", "do it", "--model", model, "--thread", "t1", "--json", "--workspace", ".")
    while not (effects.exists() and effects.read_text()):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return effects


def moved_by_fork(clew):
    assert clew("fork", "t1", "--at", history(clew, "t1")[0], "--to", "t2").code == 0
    return ["t2"]


def moved_by_file(clew):
    assert (clew("export", "t1").code, clew("import", "t1.clew", "--db", "other.db").code) == (0, 0)
    return ["t1", "--db", "other.db"]


def set_back_to_the_newest(clew):
    newest = history(clew, "t1")[0]
    assert clew("fork", "t1", "--at", newest).code == 0
    assert history(clew, "t1")[0] == newest
    return ["t1"]


def set_back_and_forth(clew):
    newest, before = history(clew, "t1")[:2]
    assert clew("fork", "t1", "--at", before).code == 0
    refused = clew("fork", "t1", "--at", newest)
    assert (refused.code, "fork it to a new thread (--to NEW)" in refused.err) == (2, True)
    assert clew("fork", "t1", "--at", newest, "--to", "t2").code == 0
    return ["t2"]


@pytest.mark.parametrize("move", [moved_by_fork, moved_by_file, set_back_to_the_newest, set_back_and_forth])
def test_a_call_that_a_crash_cut_off_is_not_made_again_wherever_the_thread_goes(clew, cut_off, move):
    result = clew("resume", *move(clew), "--json")
    assert (result.code, result.end["answer"]) == (0, "Done.")
    assert cut_off.read_text() == "paid\n"
    (told,) = [event for event in result.events if event["event"] == "tool_end"]
    assert "may have taken effect. Check before you repeat it" in json.dumps(told)
