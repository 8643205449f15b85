from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import clew.apps.artifacts
from clew.apps.artifacts import made_files

LONG_AGO = datetime.now(UTC) - timedelta(days=1)


def test_files_are_relative_sorted_and_without_hidden_folders(tmp_path):
    for name in ("b.txt", "deep/a.txt", ".clew/outputs/x.txt", "__pycache__/m.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert made_files(tmp_path, LONG_AGO) == [Path("b.txt"), Path("deep/a.txt")]


def test_older_files_were_not_made_by_the_run(tmp_path):
    (tmp_path / "old.txt").write_text("x")
    assert made_files(tmp_path, datetime.now(UTC) + timedelta(minutes=1)) == []


def test_a_copy_that_keeps_its_old_date_counts_as_made(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    os.utime(tmp_path / "a.txt", (0, 0))
    shutil.copy2(tmp_path / "a.txt", tmp_path / "b.txt")
    assert Path("b.txt") in made_files(tmp_path, LONG_AGO)


def test_a_missing_workspace_holds_nothing(tmp_path):
    assert made_files(tmp_path / "none", LONG_AGO) == []


def test_a_huge_workspace_is_not_walked_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setattr(clew.apps.artifacts, "LARGEST_FOLDER", 3)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("x")
    assert len(made_files(tmp_path, LONG_AGO)) == 3
