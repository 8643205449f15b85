"""Pause, stop and say, from another terminal than the one that runs the thread; and a kill in between."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from clew.state.stream import read_event

WAIT = "touch begun; while [ ! -e go ]; do sleep 0.05; done"


def wait_for(file, process):
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def ended(process):
    out, err = process.communicate(timeout=120)
    return [read_event(line) for line in out.splitlines()], err, process.returncode


def shown(clew, thread="t1"):
    return json.loads(clew("show", thread, "--json").out)


def messages(clew, thread="t1"):
    return [(message["type"], message["data"]["content"]) for message in shown(clew, thread)["messages"]]


@pytest.fixture
def working(start, script, calls, folder):
    """A run of `t1` in another process, in the middle of a call of a tool that lasts until `go` is made."""

    def begin(*replies, command=WAIT):
        model = script(calls(("bash", {"command": command})), *replies)
        process = start("run", "do it", "--model", model, "--thread", "t1", "--json", "--workspace", ".")
        wait_for(folder / "begun", process)
        return process

    return begin


def test_a_pause_takes_effect_at_the_next_gate_and_a_resume_goes_on(clew, working, folder):
    process = working("Done.")
    asked = clew("pause", "t1")
    assert (asked.code, asked.out) == (0, "thread t1 pauses at its next gate\n")
    (folder / "go").touch()
    events, err, code = ended(process)
    assert (code, events[-1].status, events[-1].reason) == (3, "waiting", "paused")
    assert events[-1].steps == 1
    assert "paused; go on with: clew resume t1" in err
    again = clew("pause", "t1")
    assert (again.code, again.err) == (2, "clew: thread t1 is paused: `clew resume t1` goes on with it\n")
    result = clew("resume", "t1", "--json")
    assert (result.code, result.end["answer"], result.end["steps"]) == (0, "Done.", 2)


def test_a_stop_cancels_the_tool_that_runs_and_ends_as_cancelled(clew, working, folder):
    process = working("Done.", command="touch begun; sleep 4321")
    assert clew("stop", "t1").out == "thread t1 stops at its next gate; a call of a tool that runs is cancelled\n"
    events, _, code = ended(process)
    assert (code, events[-1].status, events[-1].reason) == (1, "cancelled", "stopped")
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "sleep 4321" not in running
    assert "a person stopped the run" in messages(clew)[-1][1]
    refused = clew("stop", "t1")
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    again = clew("resume", "t1", "--json")
    assert (again.code, again.end["answer"]) == (0, "Done.")


def test_a_stop_cancels_a_model_call_too(clew, start, script):
    process = start("run", "do it", "--model", script({"content": "late", "delay": 3600}), "--thread", "t1", "--json")
    while not (found := clew("threads", "--json").out) or json.loads(found)["status"] != "running":
        time.sleep(0.05)
    while (result := clew("stop", "t1")).code != 0:
        assert "has not begun" in result.err
    events, _, code = ended(process)
    assert (code, events[-1].status) == (1, "cancelled")


def test_what_is_said_is_read_once_at_the_next_think(clew, working, folder):
    process = working("Done.")
    assert clew("say", "t1", "use port 8080").out == "thread t1 gives it to its agent before the next think\n"
    clew("say", "t1", "and be quick")
    (folder / "go").touch()
    events, _, code = ended(process)
    assert (code, events[-1].answer) == (0, "Done.")
    assert [event.text for event in events if event.event == "said"] == ["use port 8080", "and be quick"]
    kinds = [(kind, text) for kind, text in messages(clew) if kind == "human"]
    assert kinds == [("human", "do it"), ("human", "use port 8080"), ("human", "and be quick")]
    assert messages(clew)[-1] == ("ai", "Done.")


def test_what_is_said_while_the_agent_writes_its_answer_is_read_too(clew, start, script, calls):
    late = {"content": "The answer.", "delay": 2}
    process = start("run", "do it", "--model", script(late, "A better one."), "--thread", "t1", "--json")
    while not (found := clew("threads", "--json").out) or json.loads(found)["status"] != "running":
        time.sleep(0.05)
    assert clew("say", "t1", "wait").code == 0
    events, _, _ = ended(process)
    assert events[-1].answer == "A better one."


def test_each_order_is_obeyed_once_though_the_process_is_killed_before_and_after(clew, working, start, folder):
    process = working("First.", {"content": "Second."}, command=WAIT)
    clew("say", "t1", "hear this")
    os.killpg(process.pid, signal.SIGKILL)  # the row is there, and nobody has acted on it
    process.wait()
    clew("pause", "t1")
    waiting = clew("resume", "t1", "--json")
    assert (waiting.code, waiting.end["reason"]) == (3, "paused")
    result = clew("resume", "t1", "--json")
    assert (result.code, result.end["answer"]) == (0, "First.")
    assert [text for _, text in messages(clew)].count("hear this") == 1
    again = clew("run", "go on", "--thread", "t1", "--json")
    assert (again.code, again.end["answer"]) == (0, "Second.")
    assert [text for _, text in messages(clew)].count("hear this") == 1


def test_what_was_read_is_not_read_again_after_a_kill(clew, working, calls, folder):
    second = calls(("bash", {"command": "touch second; sleep 3600"}))
    process = working(second, "Done.")
    clew("say", "t1", "hear this")
    (folder / "go").touch()
    wait_for(folder / "second", process)  # the think before it read what was said
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    result = clew("resume", "t1", "--json")
    assert (result.code, result.end["answer"]) == (0, "Done.")
    assert [text for _, text in messages(clew)].count("hear this") == 1
    assert not [event for event in result.events if event["event"] == "said"]


def test_on_a_thread_that_nobody_runs_orders_are_kept_and_a_stop_ends_it_at_once(clew, script, calls):
    question = calls(("ask_human", {"inquire": "Which?"}))
    model = script(question, calls(("str_replace_editor", {"command": "view", "path": "."})), "Done.")
    assert clew("run", "do it", "--model", model, "--thread", "t1", "--json").code == 3
    said = clew("say", "t1", "the red one")
    assert said.out == "nobody runs thread t1: it gives it to its agent in its next run\n"
    assert clew("pause", "t1").out == "nobody runs thread t1: it pauses at the first gate of its next run\n"
    paused = clew("resume", "t1", "--answer", "red", "--json")
    assert (paused.end["reason"], paused.end["steps"]) == ("paused", 1)
    assert clew("stop", "t1").out == "thread t1 is stopped\n"
    data = shown(clew)
    assert (data["status"], data["reason"], data["questions"]) == ("cancelled", "stopped", [])
    again = clew("resume", "t1", "--json")
    assert (again.code, again.end["answer"]) == (0, "Done.")
    assert ("human", "the red one") in messages(clew)


def test_a_stop_answers_the_calls_that_wait_for_a_person(clew, script, calls):
    clew("run", "do it", "--model", script(calls(("ask_human", {"inquire": "Which?"}))), "--thread", "t1", "--json")
    assert clew("stop", "t1").code == 0
    assert messages(clew)[-1] == ("tool", "Not run: a person stopped the task.")


@pytest.mark.parametrize("command", [("pause", "t1"), ("stop", "t1"), ("say", "t1", "hello")])
def test_an_ended_or_unknown_thread_is_one_line_that_names_the_fix(clew, script, command):
    unknown = clew(*command)
    assert (unknown.code, unknown.err) == (2, "clew: no thread t1: `clew threads` lists them\n")
    clew("run", "do it", "--model", script("Done."), "--thread", "t1", "--json")
    refused = clew(*command)
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    assert 'has ended (finished): `clew run "…" --thread t1`' in refused.err


def test_saying_nothing_is_refused(clew):
    result = clew("say", "t1", "  ")
    assert (result.code, result.err.splitlines()[-1]) == (
        2,
        "clew say: error: argument TEXT: it is empty; say it in words",
    )


def test_a_call_that_waits_for_the_rate_limit_says_so_and_can_be_stopped(clew, start, script, calls, folder):
    view = calls(("str_replace_editor", {"command": "view", "path": "."}))
    (folder / "clew.toml").write_text(f'[llm.slow]\nmodel = "{script(view, "Done.")}"\nrequests_per_minute = 1\n')
    process = start("run", "do it", "--model", "slow", "--thread", "t1", "--json")
    events = []
    while not events or events[-1].event != "wait":
        events.append(read_event(process.stdout.readline()))
    assert events[-1].message.startswith("the rate limit of ")
    assert 0 < events[-1].seconds <= 60
    assert clew("stop", "t1").code == 0
    rest, _, code = ended(process)
    assert (code, rest[-1].status, rest[-1].steps) == (1, "cancelled", 1)


@pytest.mark.parametrize(("command", "ends"), [("pause", ("waiting", "paused")), ("stop", ("cancelled", "stopped"))])
def test_an_order_reaches_a_delegate_and_a_resume_goes_on(clew, folder, command, ends):
    order = [sys.executable, "-m", "clew.apps.cli.main", command, "t1"]
    (folder / "model.py").write_text(
        f"""
import subprocess
import sys
from pathlib import Path


def reply(messages, tools):
    delegates = "delegate" in [tool["function"]["name"] for tool in tools]
    if messages[-1].type == "tool":
        return "I know it now." if delegates else "Nothing is here."
    if not delegates and not Path("ordered").exists():
        Path("ordered").touch()
        subprocess.run({order!r}, check=True, stdout=subprocess.DEVNULL)
    view = {{"name": "str_replace_editor", "args": {{"command": "view", "path": "."}}}}
    task = {{"name": "delegate", "args": {{"agent": "read_only", "task": "look around"}}}}
    return {{"tool_calls": [task if delegates else view]}}
"""
    )
    begun = clew("run", "look", "--agent", "code_act", "--model", "script:model.py", "--thread", "t1", "--json")
    assert (begun.end["status"], begun.end["reason"]) == ends
    if command == "pause":
        [question] = [event for event in begun.events if event["event"] == "question"]
        assert question["path"] == ["code_act", "read_only"]
        assert shown(clew)["usage"]["llm_calls"] == 2
    result = clew("resume", "t1", "--json")
    assert (result.code, result.end["answer"]) == (0, "I know it now.")
