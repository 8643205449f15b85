from __future__ import annotations

import asyncio
import json
import re

import pytest

from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.thread import ThreadRecord

ANSWER = "All done."


@pytest.fixture
def done(clew, script, calls):
    """A finished thread of two steps."""
    model = script(calls(("bash", {"command": "echo hi"}), content="I look."), ANSWER)
    clew("run", "say hi", "--model", model, "--thread", "t1")
    return "t1"


def entries(clew, thread, *flags):
    return [json.loads(line) for line in clew("history", thread, "--json", *flags).out.splitlines()]


def before(history, node):
    """The checkpoint from which the one step of that node began."""
    (checkpoint,) = [entry["parent"] for entry in history if entry["nodes"] == [node]]
    return checkpoint


def shown(clew, thread):
    return json.loads(clew("show", thread, "--json").out)


def test_without_threads_the_list_says_how_to_begin(clew):
    result = clew("threads")
    assert (result.code, "clew run" in result.out) == (0, True)


def test_the_list_has_the_thread_used_last_first(clew, script, calls, done):
    clew("run", "wait", "--model", script(calls(("ask_human", {"inquire": "?"})), name="ask"), "--thread", "t2")
    header, second, first = clew("threads").out.splitlines()
    assert header.split()[:4] == ["thread", "status", "agent", "steps"]
    assert second.split()[:4] == ["t2", "waiting", "(input)", "manus"]
    assert first.split()[:5] == ["t1", "finished", "(answer)", "manus", "2"]


def test_show_tells_what_was_said_and_done(clew, done):
    result = clew("show", done)
    assert result.code == 0
    told = ("status     finished (answer)", "human: say hi", "agent: I look.", "  bash ok: hi", f"agent: {ANSWER}")
    assert [line for line in told if line not in result.out] == []


def test_show_of_a_waiting_thread_tells_how_to_answer(clew, script, calls):
    clew("run", "wait", "--model", script(calls(("ask_human", {"inquire": "Which?"}))), "--thread", "t2")
    out = clew("show", "t2").out
    assert "asks (input): Which?" in out
    assert "clew resume t2 --answer " in out


def test_history_tells_of_each_step_what_ran_and_what_it_cost_the_newest_first(clew, done):
    found = entries(clew, done)
    assert [entry["step"] for entry in found] == list(range(4, -2, -1))
    nodes = [[], [], ["think"], ["act"], ["think"], ["terminate"]]
    assert [entry["nodes"] for entry in reversed(found)] == nodes
    assert [entry["tools"] for entry in found if entry["nodes"] == ["act"]] == [["bash"]]
    assert [bool(entry["tokens"]) for entry in reversed(found)] == [ran == ["think"] for ran in nodes]
    used = shown(clew, done)["usage"]
    assert sum(entry["tokens"] for entry in found) == used["input_tokens"] + used["output_tokens"]
    assert [entry["seconds"] is None for entry in found] == [False] * 5 + [True]
    assert [entry["parent"] for entry in found] == [*(entry["checkpoint"] for entry in found[1:]), None]
    assert sum(entry["size"] for entry in found) == json.loads(clew("du", "--json").out)["total"]
    assert len({entry["run_id"] for entry in found}) == 1


def test_the_history_of_a_plan_tells_what_its_agents_did_and_what_its_planner_used(clew, script, calls):
    model = script(calls(("bash", {"command": "true"})), "Done.", name="agent")
    assert clew("plan", "do it", "--model", model, "--thread", "t1").code == 0
    found = entries(clew, "t1")
    ran = [entry for entry in found if any(node.startswith("execute_step") for node in entry["nodes"])]
    assert [entry["tools"] for entry in ran] == [["bash"]] * len(ran)
    assert len(ran) > 1
    assert all(entry["tokens"] for entry in ran)
    assert [entry["nodes"] for entry in found if entry["tokens"] and entry not in ran] == [
        ["finalize"],
        ["create_plan"],
    ]
    used = shown(clew, "t1")["usage"]
    assert sum(entry["tokens"] for entry in found) == used["input_tokens"] + used["output_tokens"]
    assert sum(entry["size"] for entry in found) == json.loads(clew("du", "--json").out)["total"]
    row = next(line for line in clew("history", "t1").out.splitlines() if "execute_step" in line)
    assert "bash" in row.split()
    assert entries(clew, "t1", "--limit", "5") == found[:5]


def test_history_is_a_table_that_can_be_cut(clew, done):
    header, *rows = clew("history", done).out.splitlines()
    assert header.split() == ["checkpoint", "step", "time", "node", "tool", "duration", "tokens", "size"]
    (act,) = [row.split() for row in rows if "act" in row]
    assert act[3:5] == ["act", "bash"]
    assert [row.split()[3] for row in rows[-2:]] == ["loop", "input"]
    cut = clew("history", done, "--limit", "2").out.splitlines()[1:]
    assert [row.split() for row in cut] == [row.split() for row in rows[:2]]


def test_a_fork_sets_the_thread_back_and_a_resume_runs_on_from_there(clew, script, calls, done):
    found = entries(clew, done)
    result = clew("fork", done, "--at", before(found[:3], "think"))
    assert result.code == 0
    assert "clew resume t1" in result.out
    assert clew("threads").out.splitlines()[1].split()[1:3] == ["waiting", "(paused)"]
    first_step = calls(("bash", {"command": "echo hi"}), content="I look.")
    other = script(first_step, "Another end.", name="other")
    again = clew("resume", done, "--model", other, "--json")
    assert (again.code, again.end["answer"], again.end["steps"]) == (0, "Another end.", 2)
    assert [event["event"] for event in again.events] == ["start", "think", "end"]
    back = clew("fork", done, "--at", found[0]["checkpoint"])
    assert (back.code, "finished" in back.out) == (0, True)
    assert ANSWER in clew("show", done).out


def test_a_fork_before_a_tool_call_runs_the_call_again(clew, done, folder):
    clew("fork", done, "--at", before(entries(clew, done), "act"))
    again = clew("resume", done, "--json")
    assert [event["event"] for event in again.events] == ["start", "tool_start", "tool_end", "think", "end"]


def test_a_fork_to_a_new_thread_leaves_the_old_one_as_it_was(clew, script, calls, done):
    history, said = entries(clew, done), shown(clew, done)["messages"]
    result = clew("fork", done, "--at", before(history[:3], "think"), "--to", "t2", "--json")
    assert result.code == 0
    forked = json.loads(result.out)
    assert (forked["thread"], forked["status"], forked["reason"]) == ("t2", "waiting", "paused")
    assert forked["workspace"] == shown(clew, done)["workspace"]
    assert [entry["checkpoint"] for entry in entries(clew, "t2")] == [entry["checkpoint"] for entry in history[2:]]
    other = script(calls(("bash", {"command": "echo hi"}), content="I look."), "Another end.", name="other")
    again = clew("resume", "t2", "--model", other, "--json")
    assert (again.code, again.end["answer"], again.end["steps"]) == (0, "Another end.", 2)
    assert (entries(clew, done), shown(clew, done)["messages"]) == (history, said)
    taken = clew("fork", done, "--at", history[0]["checkpoint"], "--to", "t2")
    assert (taken.code, "thread t2 exists" in taken.err) == (2, True)


@pytest.mark.parametrize(("at", "says"), [("1", "checkpoints begin with 1"), ("zz", "no checkpoint zz")])
def test_a_fork_needs_one_checkpoint(clew, done, at, says):
    result = clew("fork", done, "--at", at)
    assert (result.code, says in result.err) == (2, True)


@pytest.mark.parametrize("graph", ["agent", "plan", "hub"])
def test_a_thread_whose_record_names_no_agent_can_be_looked_at(clew, graph):
    async def keep():
        async with open_saver(".clew/clew.db") as saver:
            await thread_registry(saver).put(ThreadRecord(thread="t1", graph=graph, task="of another program"))

    asyncio.run(keep())
    result = clew("show", "t1")
    assert (result.code, result.err) == (0, "")
    assert re.search(r"^agent +none in its record$", result.out, re.MULTILINE)
    assert clew("show", "t1", "--html", "t1.html").code == 0
    for command in (["show", "t1", "--json"], ["threads"], ["history", "t1"], ["export", "t1"]):
        assert clew(*command).code == 0


def test_what_was_said_on_a_thread_whose_record_names_no_agent_is_shown(clew, done):
    async def forget():
        async with open_saver(".clew/clew.db") as saver:
            registry = thread_registry(saver)
            await registry.put((await registry.get(done)).model_copy(update={"agents": []}))

    asyncio.run(forget())
    assert f"agent: {ANSWER}" in clew("show", done).out.splitlines()


@pytest.mark.parametrize("graph", ["agent", "hub"])
@pytest.mark.parametrize("command", [["resume", "t1"], ["export", "t1", "--trajectory", "t1.json"]])
def test_a_thread_whose_record_names_no_agent_is_not_run(clew, script, command, graph):
    async def keep():
        async with open_saver(".clew/clew.db") as saver:
            await thread_registry(saver).put(ThreadRecord(thread="t1", graph=graph, task="go", model=script(ANSWER)))

    asyncio.run(keep())
    result = clew(*command)
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert "thread t1 has no agent in its record" in result.err


def test_delete_removes_the_thread_and_keeps_its_files(clew, script, calls, folder):
    model = script(calls(("bash", {"command": "echo hi > made.txt"})), ANSWER)
    clew("run", "do it", "--model", model, "--thread", "t1")
    result = clew("delete", "t1")
    assert result.code == 0
    assert clew("threads", "--json").out == ""
    assert clew("history", "t1").code == 2
    assert (folder / ".clew/workspaces/t1/made.txt").exists()


def test_every_command_takes_the_database(clew, script, folder):
    clew("run", "do it", "--model", script(ANSWER), "--thread", "t1", "--db", "other.db")
    assert clew("threads", "--json").out == ""
    assert json.loads(clew("threads", "--json", "--db", "other.db").out)["thread"] == "t1"
    assert "clew show t1 --db other.db" in clew("resume", "t1", "--db", "other.db").out
    assert clew("delete", "t1", "--db", f"sqlite:///{folder}/other.db").code == 0


def test_show_tells_what_the_task_took(clew, script, calls):
    clew("run", "look", "--model", script(calls(("bash", {"command": "sleep 0.1"})), "Done."), "--thread", "t1")
    shown = clew("show", "t1").out
    assert re.search(r"^time +\d+\.\d s: (act|think) \d", shown, re.MULTILINE)
    assert "calls      1 tool call\n" in shown
    metrics = json.loads(clew("show", "t1", "--json").out)["metrics"]
    assert (metrics["iterations"], metrics["tool_calls"], metrics["usage"]["llm_calls"]) == (2, 1, 2)
    assert metrics["nodes"]["act"] >= 0.1
    assert [part["agent"] for part in metrics["subtasks"]] == ["manus"]
