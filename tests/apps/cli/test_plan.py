from __future__ import annotations

import json
import signal
import time

import pytest

CAST = """
import asyncio, re, sys
from pathlib import Path

PLAN = {steps}

def call(name, **args):
    return {{"tool_calls": [{{"name": name, "args": args}}]}}

async def reply(messages, tools):
    text = "\\n".join(message.text for message in messages if message.type in ("system", "human"))
    if "Make a plan for the task" in text:
        return call("planning", command="create", title="Report", steps=PLAN)
    if "All steps of the plan are done" in text:
        return "The report is made."
    if "you look at it again" in text:
        return "No change."
    step = re.findall(r"^Current step: (.*)$", text, re.MULTILINE)[-1]
    if step.startswith("ask") and not any(message.type == "tool" for message in messages):
        return call("ask_human", inquire=f"What about {{step}}?")
    if step.startswith("fail"):
        return call("terminate", status="failure", answer="I cannot.")
    with Path("done.txt").open("a") as file:
        file.write(step + "\\n")
    if step.startswith("slow") and Path("begun").exists() is False:
        Path("begun").touch()
        await asyncio.sleep(1)
    return call("terminate", status="success", answer=f"{{step}}: done")
"""

PARALLEL = [
    {"text": "collect"},
    {"text": "count", "depends_on": [0]},
    {"text": "weigh", "depends_on": [0]},
    {"text": "report", "depends_on": [1, 2]},
]


@pytest.fixture
def cast(folder):
    """Write a planner that plans these steps and agents that do them, and give the name of the model."""

    def write(*steps):
        path = folder / "cast.py"
        path.write_text(CAST.format(steps=repr(list(steps))))
        return f"script:{path}"

    return write


def changes(events):
    return [(event["step"]["text"], event["step"]["status"]) for event in events if event["event"] == "plan_step"]


def test_a_plan_tells_every_change_of_a_step_and_ends_with_the_plan(clew, cast):
    result = clew("plan", "make a report", "--model", cast(*PARALLEL), "--thread", "p1", "--json")
    assert result.code == 0
    told = changes(result.events)
    for text in ("collect", "count", "weigh", "report"):
        assert [status for what, status in told if what == text] == ["not_started", "in_progress", "completed"]
    assert list(result.end)[-2:] == ["metrics", "plan"]
    assert result.end["answer"] == "The report is made."
    plan = result.end["plan"]
    assert list(plan) == ["id", "title", "steps"]
    assert list(plan["steps"][0]) == ["id", "text", "agent", "depends_on", "status", "attempts", "notes", "result"]
    assert [step["result"] for step in plan["steps"]] == [f"{step['text']}: done" for step in PARALLEL]


def test_a_failed_step_leaves_the_plan_blocked_with_code_5(clew, cast):
    result = clew("plan", "make a report", "--model", cast("collect", "fail it"), "--json", "--thread", "p1")
    assert (result.code, result.end["status"], result.end["reason"]) == (5, "stuck", "blocked")
    assert [step["status"] for step in result.end["plan"]["steps"]] == ["completed", "blocked"]
    shown = clew("show", "p1").out
    assert "Report: 1/2 steps completed (50.0%)" in shown
    assert "[!]" in shown


def test_a_plan_may_be_approved_edited_or_rejected_first(clew, cast):
    def wait(thread):
        result = clew("plan", "report", "--model", cast("collect", "report"), "--approve", "--json", "--thread", thread)
        assert (result.code, result.end["reason"]) == (3, "plan")

    for thread in ("p1", "p2", "p3"):
        wait(thread)
    approved = clew("resume", "p1", "--answer", "approve", "--json")
    assert (approved.code, approved.end["status"]) == (0, "finished")
    edited = clew("resume", "p2", "--answer", json.dumps({"steps": ["report"]}), "--json")
    assert [step["text"] for step in edited.end["plan"]["steps"]] == ["report"]
    rejected = clew("resume", "p3", "--answer", "reject", "--json")
    assert (rejected.code, rejected.end["status"]) == (6, "rejected")


def test_questions_of_parallel_steps_are_answered_in_any_order(clew, cast):
    steps = [{"text": "ask one", "depends_on": []}, {"text": "ask two", "depends_on": []}]
    first = clew("plan", "report", "--model", cast(*steps), "--json", "--thread", "p1")
    assert first.code == 3
    asked = {event["question"]: event["id"] for event in first.events if event["event"] == "question"}
    assert sorted(asked) == ["What about ask one?", "What about ask two?"]
    second = clew("resume", "p1", "--answer", f"{asked['What about ask two?']}=fine", "--json")
    assert second.code == 3
    third = clew("resume", "p1", "--answer", "fine", "--json")
    assert (third.code, third.end["status"]) == (0, "finished")
    assert [step["attempts"] for step in third.end["plan"]["steps"]] == [1, 1]


def test_a_resume_tells_only_what_changed(clew, cast):
    first = clew("plan", "report", "--model", cast("collect", "ask one"), "--json", "--thread", "p1")
    assert ("collect", "completed") in changes(first.events)
    second = clew("resume", "p1", "--answer", "fine", "--json")
    assert changes(second.events) == [("ask one", "completed")]


def test_show_has_the_plan_as_a_table_and_plans_lists_the_library(clew, cast):
    assert "clew plan" in clew("plans").out
    clew("plan", "make a report", "--model", cast(*PARALLEL), "--thread", "p1", "--workspace", "w")
    shown = clew("show", "p1").out
    assert "Report: 4/4 steps completed (100.0%)" in shown
    rows = [line for line in shown.splitlines() if line.startswith("[✓]")]
    assert [row.split()[2] for row in rows] == ["collect", "count", "weigh", "report"]
    (_, row) = clew("plans").out.splitlines()
    assert "p1" in row
    assert "4/4 steps completed" in row
    (entry,) = map(json.loads, clew("plans", "--json").out.splitlines())
    assert (entry["thread"], entry["plan"]["title"]) == ("p1", "Report")


def test_agents_are_named_on_the_command_line(clew, cast):
    assert clew("plan", "report", "--agents", "manus,mouse", "--model", cast("collect")).code == 2
    assert clew("plan", "report", "--agents", "manus,manus", "--model", cast("collect")).code == 2
    assert clew("plan", "report", "--agents", "manus", "--model", cast("collect")).code == 0


def test_a_plan_run_is_paused_when_its_time_is_up(clew, cast, folder):
    (folder / "clew.toml").write_text("[runflow]\ntimeout = 0.5\n")
    first = clew("plan", "report", "--model", cast("slow one", "last"), "--json", "--thread", "p1")
    assert (first.code, first.end["status"], first.end["reason"]) == (3, "waiting", "paused")
    (folder / "clew.toml").unlink()
    second = clew("resume", "p1", "--json")
    assert (second.code, second.end["status"]) == (0, "finished")


def test_ctrl_c_during_parallel_steps_repeats_nothing_that_was_completed(clew, cast, start, folder):
    steps = [{"text": "quick", "depends_on": []}, {"text": "slow one", "depends_on": []}, {"text": "last"}]
    process = start("plan", "report", "--model", cast(*steps), "--json", "--thread", "p1")
    while not (folder / "begun").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    end = json.loads(out.splitlines()[-1])
    assert (process.returncode, end["status"], end["reason"]) == (130, "waiting", "paused"), err
    result = clew("resume", "p1", "--json")
    assert (result.code, result.end["status"]) == (0, "finished")
    assert sorted((folder / "done.txt").read_text().split("\n")) == ["", "last", "quick", "slow one"]


def test_a_plan_that_waits_in_a_step_can_be_pruned_and_then_answered(clew, cast):
    model = cast({"text": "collect"}, {"text": "ask for a colour", "depends_on": [0]})
    assert clew("plan", "report", "--model", model, "--thread", "t").code == 3
    pruned = clew("prune", "t", "--keep-latest", "--json")
    assert (pruned.code, json.loads(pruned.out)["pruned"][0]["deleted"] > 5) == (0, True)
    result = clew("resume", "t", "--answer", "red", "--json")
    assert (result.code, result.end["status"], result.end["answer"]) == (0, "finished", "The report is made.")
    assert clew("prune", "t", "--keep-latest").code == 0
    assert "2/2" in clew("show", "t").out
