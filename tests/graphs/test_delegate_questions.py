"""Questions of delegates wait in the database; each may be answered by a process of its own."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

SCRIPT = Path(__file__).with_name("delegate_questions.py")


def process(folder, answers=None):
    support = Path(__file__).parents[1] / "support"
    command = [sys.executable, SCRIPT, folder, *([json.dumps(answers)] if answers else [])]
    environ = {**os.environ, "PYTHONPATH": str(support)}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_question_is_answered_by_another_process_and_nothing_is_asked_of_a_model_twice(tmp_path):
    asked = process(tmp_path)["questions"]
    by_kind = {question["kind"]: identifier for identifier, question in asked.items()}
    assert asked[by_kind["input"]]["path"] == ["outermost", "left", "deepest"]
    assert asked[by_kind["limit"]]["path"] == ["outermost", "right"]

    left = process(tmp_path, {by_kind["limit"]: "5"})
    assert list(left["questions"]) == [by_kind["input"]]

    end = process(tmp_path, {by_kind["input"]: "to the left"})
    assert (end["questions"], end["status"]) == ({}, "finished")
    observations = sorted(text for name, text in end["results"])
    assert "to the left" in observations[0]
    assert observations[1] == "`right` has done the task.\n\nThere is nothing."
    models = Counter((tmp_path / "asked").read_text().split())
    assert models == {"outermost": 2, "left": 2, "deepest": 2, "right": 2}
