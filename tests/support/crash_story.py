"""Starts the scripts of `crashes`, and reads what their runs left."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple


class Story(NamedTuple):
    """What happened in a run."""

    lives: list[dict[str, Any]]
    effects: list[tuple[int, str]]
    """The life in which each effect was left, and its name."""
    end: dict[str, Any]


def story(folder: Path) -> Story:
    """Read what a finished run left, after a check that the database is sound."""
    with closing(sqlite3.connect(folder / "threads.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    lines = [line.split() for line in (folder / "effects").read_text().splitlines()]
    return Story(
        lives=[json.loads(line) for line in (folder / "lives").read_text().splitlines()],
        effects=[(int(life), name) for life, name in lines],
        end=json.loads((folder / "end.json").read_text()),
    )


def repeated_after_completion(told: Story) -> list[tuple[int, str]]:
    """Effects of calls whose result the thread had already when the process began."""
    known = {life["life"]: set(life["results"]) for life in told.lives}
    return [(life, name) for life, name in told.effects if name in known[life]]


def start(script: Path, folder: Path, *arguments: object) -> subprocess.Popen[bytes]:
    """Start a script of this kind in a folder, which is made."""
    folder.mkdir(exist_ok=True)
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    return subprocess.Popen([sys.executable, script, folder, *map(str, arguments)], env=environ)


def stories(script: Path, folder: Path, kills: int, seeds: Iterable[int]) -> dict[str, Story]:
    """Run a script undisturbed and with kills for each seed; the stories by the names of their folders."""
    assert start(script, folder, "fork", kills, *seeds).wait() == 0
    return {each.name: story(each) for each in sorted(folder.iterdir())}


def check_same_end(told: Story, undisturbed: Story, most_in_flight: int) -> None:
    """The end is that of the undisturbed run; nothing is missing, and only calls in flight at a kill ran again."""
    assert told.end == undisturbed.end
    assert repeated_after_completion(told) == []
    times = Counter(name for _, name in told.effects)
    assert set(times) == {name for _, name in undisturbed.effects}
    assert times.total() - len(times) <= (len(told.lives) - 1) * most_in_flight


def print_figures(what: str, told: Iterable[Story]) -> None:
    """Say how many runs were killed how often; `make soak` shows it."""
    told = list(told)
    kills, effects = sum(len(each.lives) - 1 for each in told), sum(len(each.effects) for each in told)
    again = sum(len(each.effects) - len({name for _, name in each.effects}) for each in told)
    print(f"{what}: {len(told)} runs, {kills} kills, {effects} effects, {again} of them of calls that ran again")
