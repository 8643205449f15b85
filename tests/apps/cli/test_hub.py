"""The hub on the command line: begun, asked, killed, taken up again."""

from __future__ import annotations

import json
import sys

import pytest

SCRIPT = """
ROLES = {"You study": "study", "by running code": "code", "You verify": "verify"}


def call(name, **args):
    return {"tool_calls": [{"name": name, "args": args}]}


def reply(messages, tools):
    system = next(message.text for message in messages if message.type == "system")
    role = next(role for words, role in ROLES.items() if words in system)
    with open("asked", "a") as file:
        file.write(role + "\\n")
    task = messages[1].text
    results = [message.text for message in messages if message.type == "tool"]
    if role == "study":
        return call("terminate", status="success", answer="There is nothing yet.")
    if role == "verify":
        if not results:
            return call("bash", command="cat note.txt")
        done = "a note" in results[0]
        return call("verdict", completed=done, summary="It is there." if done else "note.txt is missing.")
    if not results:
        wanted = "echo a note > note.txt" if "note.txt is missing" in task else "echo wrong > other.txt"
        return call("bash", command=wanted)
    return call("terminate", status="success", answer="I wrote it.")
"""


ORDER = """
import subprocess
from pathlib import Path


def order():
    if Path("asked").read_text().split() == ["study"]:
        subprocess.run({order!r}, check=True, stdout=subprocess.DEVNULL)
"""

RUN = ("run", "write a note", "--agent", "hub", "--thread", "t")


@pytest.fixture
def model(folder):
    (folder / "hub.py").write_text(SCRIPT)
    return f"script:{folder / 'hub.py'}"


def asked(folder):
    return (folder / "asked").read_text().split()


def test_a_task_for_the_hub_goes_through_study_code_and_verify_until_it_is_completed(clew, model, folder):
    result = clew(*RUN, "--model", model, "--json")
    assert (result.code, result.end["status"], result.end["reason"]) == (0, "finished", "verified")
    assert result.end["answer"] == "I wrote it.\n\nVerified: It is there."
    assert asked(folder) == ["study", *["code", "code", "verify", "verify"] * 2]
    assert {tuple(event["path"]) for event in result.events if event["event"] == "think"} == {
        ("study",),
        ("code",),
        ("verify",),
    }
    shown = json.loads(clew("show", "t", "--json").out)
    assert (shown["status"], shown["agents"]) == ("finished", ["repo_study", "code_act", "verifier"])
    assert clew("show", "t").code == 0


def test_a_limit_of_the_whole_run_ends_it_and_a_higher_one_goes_on_where_it_was(clew, model, folder):
    begun = clew(
        "run", "write a note", "--agent", "hub", "--model", model, "--thread", "t", "--headless", "--max-steps", "4"
    )
    assert begun.code == 4
    assert "clew resume t --max-steps N" in begun.out
    resumed = clew("resume", "t", "--max-steps", "30", "--json")
    assert (resumed.code, resumed.end["reason"]) == (0, "verified")
    assert asked(folder).count("study") == 1


def test_a_question_inside_an_agent_is_answered_by_a_later_command(clew, model, folder):
    begun = clew(
        "run", "write a note", "--agent", "hub", "--model", model, "--thread", "t", "--max-steps", "2", "--json"
    )
    assert (begun.code, begun.end["reason"]) == (3, "limit")
    assert asked(folder) == ["study", "code"]
    resumed = clew("resume", "t", "--max-steps", "30", "--json")
    assert (resumed.code, resumed.end["reason"]) == (0, "verified")
    assert asked(folder) == ["study", *["code", "code", "verify", "verify"] * 2]


def test_the_hub_is_listed_with_its_agents_and_drawn(clew):
    listed = clew("agents").out
    assert "repo_study, code_act, verifier" in listed
    drawn = clew("graph", "hub").out
    assert all(edge in drawn for edge in ("study -.-> code", "code -.-> verify", "verify -.-> code"))


def test_the_run_of_the_hub_is_written_with_the_runs_of_its_roles(clew, model, folder):
    assert clew(*RUN, "--model", model).code == 0
    assert clew("export", "t", "--trajectory", "hub.json").code == 0
    children = json.loads((folder / "hub.json").read_text())["children"]
    assert [child["node"] for child in children] == ["study", *["code", "verify"] * 2]
    assert [event["action"] for event in children[1]["events"] if "action" in event] == ["message", "run", "finish"]
    metrics = json.loads(clew("show", "t", "--json").out)["metrics"]
    assert metrics["usage"]["llm_calls"] == 9
    assert [part["usage"]["llm_calls"] for part in metrics["subtasks"]] == [0, 1, 2, 2, 2, 2]
    assert metrics["tool_calls"] == sum(part["tool_calls"] for part in metrics["subtasks"]) == 9


def ordering(folder, command):
    """A model whose first study gives an order, as another terminal would, while it ends its turn."""
    order = [sys.executable, "-m", "clew.apps.cli.main", command, "t"]
    study = 'return call("terminate", status="success", answer="There is nothing yet.")'
    ordered = SCRIPT.replace(study, f"order()\n        {study}")
    (folder / "ordering.py").write_text(f"{ORDER.format(order=order)}\n{ordered}")
    return f"script:{folder / 'ordering.py'}"


def test_a_pause_between_two_turns_waits_there_and_a_resume_goes_on(clew, folder):
    begun = clew(*RUN, "--model", ordering(folder, "pause"), "--json")
    assert (begun.code, begun.end["status"], begun.end["reason"]) == (3, "waiting", "paused")
    [question] = [event for event in begun.events if event["event"] == "question"]
    assert (question["path"], asked(folder)) == (["hub"], ["study"])
    resumed = clew("resume", "t", "--json")
    assert (resumed.code, resumed.end["reason"]) == (0, "verified")
    assert asked(folder) == ["study", *["code", "code", "verify", "verify"] * 2]


def test_a_stop_while_an_agent_ends_its_turn_ends_the_run_and_a_resume_takes_it_up(clew, folder):
    stopped = clew(*RUN, "--model", ordering(folder, "stop"), "--json")
    assert (stopped.code, stopped.end["status"], stopped.end["reason"]) == (1, "cancelled", "stopped")
    assert asked(folder) == ["study"]
    resumed = clew("resume", "t", "--json")
    assert (resumed.code, resumed.end["reason"]) == (0, "verified")
    assert asked(folder)[-8:] == ["code", "code", "verify", "verify"] * 2


def test_a_thread_of_the_hub_can_be_pruned(clew, model, folder):
    assert clew(*RUN, "--model", model).code == 0
    before = clew("show", "t", "--json").out
    assert clew("prune", "t", "--keep-latest").code == 0
    assert clew("show", "t", "--json").out == before
