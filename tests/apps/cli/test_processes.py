"""What only a process of its own shows: signals, a terminal, a killed run, two runs at once."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import sqlite3
import subprocess
import time

from clew.state.stream import read_event


def read_until(process, name):
    """Read events until one of that name comes."""
    events = []
    for line in process.stdout:
        events.append(read_event(line))
        if events[-1].event == name:
            return events
    raise AssertionError(f"no {name} but {events} and {process.stderr.read()}")


def ended(process, before=()):
    out, err = process.communicate(timeout=60)
    return [*before, *map(read_event, out.splitlines())], err, process.returncode


def standing(clew, thread):
    (data,) = [data for data in map(json.loads, clew("threads", "--json").out.splitlines()) if data["thread"] == thread]
    return data["status"], data["reason"]


def shown(clew, thread):
    return json.loads(clew("show", thread, "--json").out)


def test_ctrl_c_lets_the_step_finish_saves_and_says_how_to_go_on(clew, script, calls, start, folder):
    model = script(calls(("bash", {"command": "sleep 1; echo slept >> log.txt"})), "Done.")
    process = start("run", "do it", "--model", model, "--thread", "t1", "--json")
    before = read_until(process, "tool_start")
    process.send_signal(signal.SIGINT)
    events, err, code = ended(process, before)
    assert code == 130
    assert [event.event for event in events] == ["start", "think", "tool_start", "tool_end", "end"]
    assert (events[-1].status, events[-1].reason) == ("waiting", "paused")
    assert "clew resume t1" in err
    assert "Traceback" not in err
    assert standing(clew, "t1") == ("waiting", "paused")
    result = clew("resume", "t1", "--json")
    assert (result.code, result.end["answer"]) == (0, "Done.")
    assert (folder / ".clew/workspaces/t1/log.txt").read_text() == "slept\n"


def test_a_second_ctrl_c_cancels_the_step_and_leaves_no_process_behind(clew, script, calls, start):
    model = script(calls(("bash", {"command": "sleep 4321"})), "Done.")
    process = start("run", "do it", "--model", model, "--thread", "t1", "--json")
    before = read_until(process, "tool_start")
    process.send_signal(signal.SIGINT)
    process.stderr.readline()  # the first one was heard
    process.send_signal(signal.SIGINT)
    events, err, code = ended(process, before)
    assert code == 130
    assert (events[-1].status, events[-1].reason) == ("waiting", "paused")
    assert "Traceback" not in err
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "sleep 4321" not in running


def wait_for(file, process):
    while not (file.exists() and file.read_text()):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)


def test_a_killed_run_shows_as_interrupted_and_its_call_does_not_run_again(clew, script, calls, start, folder):
    effects = folder / ".clew/workspaces/t1/effects"
    model = script(calls(("bash", {"command": "echo paid >> effects; sleep 600"})), "Done.")
    process = start("run", "do it", "--model", model, "--thread", "t1", "--json")
    wait_for(effects, process)
    assert standing(clew, "t1")[0] == "running"
    busy = clew("resume", "t1", "--json")
    assert (busy.code, busy.out) == (1, "")
    assert f"process {process.pid}" in busy.err
    refused = clew("delete", "t1")
    assert refused.code == 1
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert standing(clew, "t1")[0] == "interrupted"
    result = clew("resume", "t1", "--json")
    assert (result.code, result.end["status"], result.end["answer"]) == (0, "finished", "Done.")
    assert effects.read_text() == "paid\n"
    (told,) = [message["data"] for message in shown(clew, "t1")["messages"] if message["type"] == "tool"]
    assert told["status"] == "error"
    assert "interrupted and has no result; it may have taken effect. Check before you repeat it" in told["content"]
    with sqlite3.connect(".clew/clew.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_of_two_processes_that_resume_a_thread_at_once_one_wins_and_the_other_says_who(
    clew, script, calls, start, folder
):
    effects = folder / ".clew/workspaces/t1/effects"
    work = "echo $PPID >> effects; while [ ! -e go ]; do sleep 0.05; done"
    model = script(calls(("ask_human", {"inquire": "Shall I?"})), calls(("bash", {"command": work})), "Done.")
    assert clew("run", "do it", "--model", model, "--thread", "t1").code == 3
    both = [start("resume", "t1", "--answer", "yes", "--json") for _ in range(2)]
    while not (ended_first := [process for process in both if process.poll() is not None]):
        time.sleep(0.05)
    (loser,) = ended_first
    (winner,) = [process for process in both if process is not loser]
    out, err = loser.communicate()
    assert (loser.returncode, out, len(err.splitlines())) == (1, "", 1)
    assert err.startswith("clew: thread t1 is being run by clew resume, process")
    assert str(winner.pid) in err
    wait_for(effects, winner)
    (effects.parent / "go").touch()
    events, _, code = ended(winner)
    assert (code, events[-1].status, events[-1].answer) == (0, "finished", "Done.")
    assert len(effects.read_text().splitlines()) == 1


def test_a_reader_that_goes_away_ends_the_command_quietly(script, start):
    process = start("run", "do it", "--model", script("Done."), "--json")
    process.stdout.close()
    process.stdout = None
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    assert "Exception ignored" not in err


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, start, *argv):
        self._ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "200"}
        self.process = start(*argv, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self.seen = ""

    def read_until(self, text):
        while text not in self.seen:
            assert select.select([self._ours], [], [], 60)[0], self.seen
            self.seen += os.read(self._ours, 4096).decode(errors="replace")

    def type(self, text):
        os.write(self._ours, text.encode())

    def end(self):
        try:
            while piece := os.read(self._ours, 4096):
                self.seen += piece.decode(errors="replace")
        except OSError:
            pass  # Linux says so when the other side is closed
        os.close(self._ours)
        return self.process.wait(timeout=60)


def test_on_a_terminal_questions_are_asked_and_answered_there(clew, script, calls, start):
    both = calls(("ask_human", {"inquire": "Which colour?"}), ("ask_human", {"inquire": "Which size?"}))
    terminal = Terminal(start, "run", "do it", "--model", script(both, "Painted."), "--thread", "t1")
    terminal.read_until("answer> ")
    asked = [terminal.seen.rindex(question) for question in ("Which colour?", "Which size?")]
    terminal.type("red\nlarge\n" if asked[0] > asked[1] else "large\nred\n")
    assert terminal.end() == 0
    assert "Painted." in terminal.seen
    assert "\x1b[" in terminal.seen
    said = [message["data"]["content"] for message in shown(clew, "t1")["messages"]]
    assert said[2:4] == ["red", "large"]


def test_ctrl_c_at_a_question_leaves_it_open(clew, script, calls, start):
    model = script(calls(("ask_human", {"inquire": "Which colour?"})), "Painted.")
    terminal = Terminal(start, "run", "do it", "--model", model, "--thread", "t1")
    terminal.read_until("answer> ")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert "clew resume t1 --answer TEXT" in terminal.seen
    assert standing(clew, "t1") == ("waiting", "input")


def test_show_follows_a_running_thread_on_a_terminal_to_its_end(script, calls, start, folder):
    wait = (
        "from pathlib import Path; import time\nPath('begun').touch()\nwhile not Path('go').exists(): time.sleep(0.05)"
    )
    model = script(calls(("python_execute", {"code": wait})), "Painted.")
    run = start("run", "do it", "--model", model, "--thread", "t1", "--workspace", ".")
    while not (folder / "begun").exists():
        time.sleep(0.05)
    terminal = Terminal(start, "show", "t1")
    terminal.read_until("running (clew run")
    (folder / "go").touch()
    assert terminal.end() == 0
    assert "status     finished (answer)" in terminal.seen
    assert run.wait(timeout=60) == 0
