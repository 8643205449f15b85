"""`clew export --trajectory` and `clew replay`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

LOOK = ("bash", {"command": "cat note.txt"})
WRITE = ("str_replace_editor", {"command": "create", "path": "note.txt", "file_text": "blue\n"})
COLOUR = ("ask_human", {"inquire": "Which colour?"})
END = ("terminate", {"status": "success", "answer": "It is blue."})


@pytest.fixture
def ended(clew, script, calls):
    """A thread that wrote a file, read it and ended."""
    model = script(calls(WRITE, content="I write."), calls(LOOK), calls(END))
    assert clew("run", "note the colour", "--model", model, "--thread", "t1").code == 0
    return "t1"


def kinds(file):
    return [event.get("action") or event["observation"] for event in json.loads(Path(file).read_text())["events"]]


def of(result, kind):
    return [event for event in result.events if event["event"] == kind]


def test_a_run_is_written_as_its_events_and_done_again_without_a_difference(clew, ended):
    exported = clew("export", ended, "--trajectory", "run.json", "--json")
    assert (exported.code, json.loads(exported.out)["events"]) == (0, 7)
    assert kinds("run.json") == ["message", "write", "write", "run", "run", "finish", "success"]
    assert Path("run.json").stat().st_mode & 0o777 == 0o600
    data = json.loads(Path("run.json").read_text())
    assert (data["status"], data["events"][3]["message"]) == ("finished", "Running command: cat note.txt")
    assert data["events"][4]["extras"]["exit_code"] == 0
    replayed = clew("replay", "run.json", "--thread", "t2", "--json")
    assert (replayed.code, replayed.end["answer"], of(replayed, "difference")) == (0, "It is blue.", [])
    assert [event["name"] for event in of(replayed, "tool_end")] == ["str_replace_editor", "bash", "terminate"]
    clew("export", "t2", "--trajectory", "again.json")
    assert kinds("again.json") == kinds("run.json")


def test_what_comes_otherwise_is_told_for_each_step(clew, ended, folder):
    clew("export", ended, "--trajectory", "run.json")
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere/note.txt").write_text("red\n")
    replayed = clew("replay", "run.json", "--workspace", "elsewhere", "--json")
    found = [(event["step"], event["name"], event["field"]) for event in of(replayed, "difference")]
    assert ("str_replace_editor", "observation") in [item[1:] for item in found]
    assert (2, "bash", "content") in found
    assert {item[0] for item in found} == {1, 2}
    assert replayed.events[-1]["event"] == "end"
    plain = clew("replay", "run.json", "--workspace", "elsewhere")
    assert 'differs: step 2, bash, content: was "blue\\n[exit code 0]", now "red\\n[exit code 0]"' in plain.out


def test_the_agent_takes_over_where_the_trajectory_ends(clew, script, calls, folder):
    first = script(calls(WRITE), calls(LOOK), calls(LOOK))
    assert clew("run", "note it", "--model", first, "--max-steps", "2", "--headless", "--thread", "t1").code == 4
    clew("export", "t1", "--trajectory", "run.json")
    following = script(calls(LOOK, content="I take over."), calls(END), name="following")
    replayed = clew("replay", "run.json", "--model", following, "--thread", "t2", "--json")
    assert (replayed.code, replayed.end["status"], replayed.end["steps"]) == (0, "finished", 4)
    assert [event["text"] for event in of(replayed, "think")][2] == "I take over."


def test_a_person_is_not_asked_again(clew, script, calls):
    clew("run", "paint it", "--model", script(calls(COLOUR), "Painted."), "--thread", "t1")
    assert clew("resume", "t1", "--answer", "red").code == 0
    clew("export", "t1", "--trajectory", "run.json")
    replayed = clew("replay", "run.json", "--json")
    assert (replayed.code, replayed.end["answer"]) == (0, "Painted.")
    assert of(replayed, "tool_end")[0]["text"] == "red"


def test_the_next_task_of_a_thread_is_given_when_its_turn_comes(clew, script, calls):
    clew("run", "one", "--model", script("First."), "--thread", "t1")
    clew("run", "two", "--model", script("First.", calls(WRITE), "Second."), "--thread", "t1")
    clew("export", "t1", "--trajectory", "run.json")
    replayed = clew("replay", "run.json", "--thread", "t2", "--json")
    assert [event["answer"] for event in of(replayed, "end")] == ["First.", "Second."]
    clew("export", "t2", "--trajectory", "again.json")
    assert kinds("again.json") == kinds("run.json")


def test_a_trajectory_may_be_written_by_hand(clew, folder):
    events = [
        {"action": "message", "source": "user", "args": {"content": "list"}},
        {"action": "run", "args": {"command": "echo here", "thought": "I look."}},
        {"observation": "run", "cause": 1, "content": "there\n[exit code 0]", "extras": {"exit_code": 0}},
        {"action": "message", "source": "user", "args": {"content": "be quick", "in_passing": True}},
        {"action": "finish", "args": {"final_thought": "Done."}},
    ]
    (folder / "hand.json").write_text(json.dumps({"format": "clew trajectory 1", "events": events}))
    replayed = clew("replay", "hand.json", "--json")
    assert (replayed.code, replayed.end["answer"]) == (0, "Done.")
    (content,) = [event for event in of(replayed, "difference") if event["field"] == "content"]
    assert (content["was"], content["now"]) == ("there\n[exit code 0]", "here\n[exit code 0]")
    assert "not said again: 1 message" in replayed.err


@pytest.mark.parametrize(
    ("events", "says"),
    [
        ([{"action": "message", "args": {"content": "x"}}], "has no task"),
        ([{"action": "rum"}], "events.0: Value error, no action 'rum'; did you mean 'run'?"),
        ([{"action": "add_task", "args": {"goal": "x"}}], "event 0: add_task needs the plan"),
        (7, "events: Input should be a valid list"),
    ],
)
def test_a_malformed_trajectory_is_one_line(clew, folder, events, says):
    (folder / "bad.json").write_text(json.dumps({"events": events}))
    result = clew("replay", "bad.json")
    assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert says in result.err


def test_other_mistakes_are_one_line_too(clew, ended, folder):
    clew("export", ended, "--trajectory", "run.json")
    (folder / "text.json").write_text("no JSON")
    for argv, says in [
        (["export", ended, "--trajectory", "run.json"], "run.json cannot be written (File exists)"),
        (["export", ended, "a.clew", "--trajectory", "b.json"], "name one file"),
        (["export", "nothread", "--trajectory", "b.json"], "no thread nothread"),
        (["replay", "none.json"], "trajectory none.json cannot be read"),
        (["replay", "text.json"], "is no JSON"),
        (["replay", "run.json", "--thread", ended], "thread t1 exists"),
    ]:
        result = clew(*argv)
        assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1), argv
        assert says in result.err


def test_what_delegates_did_is_written_and_done_again_too(clew, folder):
    (folder / "model.py").write_text(
        """
def reply(messages, tools):
    names = [tool["function"]["name"] for tool in tools]
    answered = messages[-1].type == "tool"
    if "delegate" not in names:
        called = {"name": "str_replace_editor", "args": {"command": "view", "path": "."}}
        return "Nothing is here." if answered else {"tool_calls": [called]}
    asked = {"name": "delegate", "args": {"agent": "read_only", "task": "look around"}}
    return "I know it now." if answered else {"tool_calls": [asked]}
"""
    )
    result = clew("run", "find out", "--agent", "code_act", "--model", "script:model.py", "--thread", "t1")
    assert result.code == 0, result.err
    assert clew("export", "t1", "--trajectory", "run.json").code == 0
    (child,) = json.loads(Path("run.json").read_text())["children"]
    assert child["node"].startswith("delegate_")
    kinds = [event.get("action") or event["observation"] for event in child["events"]]
    assert kinds[:3] == ["message", "read", "error"]
    assert clew("show", "t1", "--html").code == 0
    _, own = Path("t1.html").read_text().split("<article>")
    assert own.startswith("<h1>delegate_read_only: look around</h1>")
    assert "there is no tool" in own
    replayed = clew("replay", "run.json", "--thread", "t2", "--json")
    assert (replayed.code, replayed.end["answer"], of(replayed, "difference")) == (0, "I know it now.", [])


def test_a_plan_is_written_with_the_runs_of_its_steps_and_not_done_again(clew, folder):
    (folder / "model.py").write_text(
        """
def reply(messages, tools):
    names = [tool["function"]["name"] for tool in tools]
    if names == ["planning"]:
        plan = {"command": "create", "title": "t", "steps": ["one", "two"]}
        return {"tool_calls": [{"name": "planning", "args": plan}]}
    return {"tool_calls": [{"name": "terminate", "args": {"status": "success"}}]} if names else "All done."
"""
    )
    assert clew("plan", "do both", "--model", "script:model.py", "--thread", "p1").code == 0
    assert clew("export", "p1", "--trajectory", "plan.json").code == 0
    data = json.loads(Path("plan.json").read_text())
    assert [child["node"] for child in data["children"]] == ["execute_step"] * 2
    assert [child["events"][1]["action"] for child in data["children"]] == ["finish"] * 2
    assert clew("show", "p1", "--html").code == 0
    titles = re.findall("<article><h1>(.*?)</h1>", Path("p1.html").read_text())
    assert titles == [f"execute_step: Current step: {step}" for step in ("one", "two")]
    replayed = clew("replay", "plan.json")
    assert (replayed.code, "is the run of a plan" in replayed.err) == (2, True)
