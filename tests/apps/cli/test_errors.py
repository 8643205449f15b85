"""A database that cannot be used: one sentence, code 1, and nothing in it is changed."""

from __future__ import annotations

import json
import resource
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

KEY = "a key that only this test knows"

COMMANDS = (["threads"], ["plans"], ["history", "t1"], ["prune", "t1"], ["du"], ["resume", "t1"])


NO_PLANS = 'no plans yet: make one with `clew plan "…"`\n'


@pytest.fixture
def run(clew, script):
    """Run a task of one reply on the thread t1."""
    model = script("All done.")
    return lambda *arguments: clew("run", "do it", "--model", model, "--thread", "t1", *arguments)


def assert_refused(result, sentence, code=1):
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith("clew: ")
    assert sentence in result.err
    assert len(result.err.splitlines()) == 1


def cut(whole):
    return whole[: len(whole) // 2 + 100]


def scrambled(whole):
    return whole[:4096] + b"\xa5" * (len(whole) - 4096)


def replaced(whole):
    return b"a letter to somebody " * 1000


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [(cut, "is damaged"), (scrambled, "is damaged"), (replaced, "is not a SQLite database, or is damaged")],
)
def test_a_damaged_database_is_told_and_left_as_it_is(clew, run, folder, damage, sentence):
    run("--db", "x.db")
    damaged = damage((folder / "x.db").read_bytes())
    (folder / "x.db").write_bytes(damaged)
    for command in COMMANDS:
        assert_refused(clew(*command, "--db", "x.db"), f"x.db {sentence}")
    assert_refused(run("--db", "x.db"), f"x.db {sentence}")
    assert (folder / "x.db").read_bytes() == damaged


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_a_database_of_another_program_keeps_what_it_has(clew, run, folder, version):
    with closing(sqlite3.connect("x.db")) as database:
        database.executescript("CREATE TABLE songs (name TEXT); INSERT INTO songs VALUES ('one')")
        database.execute(f"PRAGMA user_version={version}")
    before = (folder / "x.db").read_bytes()
    for command in (*COMMANDS, ["plans"]):
        assert_refused(clew(*command, "--db", "x.db"), "x.db is a SQLite database of another program")
    assert_refused(run("--db", "x.db"), "x.db is a SQLite database of another program")
    assert (folder / "x.db").read_bytes() == before


READING = (
    *COMMANDS,
    *(["show", "t1"], ["export", "t1"], ["delete", "t1"], ["fork", "t1", "--at", "1"], ["plans"]),
    *(["pause", "t1"], ["stop", "t1"], ["say", "t1", "hello"]),
)


@pytest.mark.parametrize("place", ["typo/x.db", "x.db", "sqlite:///x.db", "file/x.db"])
def test_a_database_that_is_named_and_not_there_is_told_and_not_made(clew, folder, place):
    (folder / "file").write_text("a file")
    for command in READING:
        assert_refused(clew(*command, "--db", place), f"there is no database {place}: check its name", code=2)
    assert [path.name for path in folder.iterdir()] == ["file"]


def test_without_a_database_there_are_no_threads_and_none_is_made(clew, folder, monkeypatch):
    for name in (None, "typo/x.db"):
        if name:
            monkeypatch.setenv("CLEW_DB", name)
        assert (clew("threads").code, "no threads yet" in clew("threads").out) == (0, True)
        assert (clew("plans").code, clew("du").code, clew("prune", "--keep-latest").out) == (0, 0, "nothing to prune\n")
        assert_refused(clew("show", "t1"), "no thread t1: `clew threads` lists them", code=2)
        assert "which the first run makes" in clew("doctor").out
    assert list(folder.iterdir()) == []


def test_a_folder_or_a_file_in_the_way_is_told(run, folder):
    (folder / "inn").mkdir()
    (folder / "file").write_text("a file")
    assert_refused(run("--db", "inn"), "inn cannot be opened: check the path")
    assert_refused(run("--db", "file/x.db"), "file/x.db cannot be opened: check the path")
    assert list((folder / "inn").iterdir()) == []


def test_a_wrong_key_is_told_by_every_command_and_the_right_one_still_opens(clew, run, monkeypatch):
    monkeypatch.setenv("CLEW_ENCRYPTION_KEY", KEY)
    assert run().code == 0
    shown = clew("show", "t1", "--json").out
    assert clew("export", "t1").code == 0
    monkeypatch.setenv("CLEW_ENCRYPTION_KEY", KEY[::-1])
    for command in (*COMMANDS, ["delete", "t1"], ["import", "t1.clew", "--thread", "t2"]):
        assert_refused(clew(*command), "CLEW_ENCRYPTION_KEY is not the key of this database")
    assert_refused(run(), "CLEW_ENCRYPTION_KEY is not the key of this database")
    assert_refused(clew("import", "t1.clew", "--db", "other.db"), "CLEW_ENCRYPTION_KEY is not the key")
    monkeypatch.delenv("CLEW_ENCRYPTION_KEY")
    assert_refused(clew("threads"), "the database is encrypted: set CLEW_ENCRYPTION_KEY")
    monkeypatch.setenv("CLEW_ENCRYPTION_KEY", KEY)
    assert clew("show", "t1", "--json").out == shown


HOLDER = """
import sqlite3, sys
database = sqlite3.connect("x.db", isolation_level=None)
database.execute("PRAGMA locking_mode=EXCLUSIVE")
database.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_database_that_another_process_locks_is_told_and_keeps_what_it_has(clew, run, monkeypatch):
    run("--db", "x.db")
    shown = clew("show", "t1", "--db", "x.db", "--json").out
    monkeypatch.setenv("CLEW_DB_WAIT", "0.1")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", HOLDER], **pipes) as holder:
        assert holder.stdout.readline() == "held\n"
        for command in (*COMMANDS, ["export", "t1"]):
            assert_refused(clew(*command, "--db", "x.db"), "x.db is locked by another process: try again when that")
        assert_refused(run("--db", "x.db", "--thread", "t2"), "x.db is locked by another process")
        holder.communicate()
    assert clew("show", "t1", "--db", "x.db", "--json").out == shown
    assert len(clew("threads", "--db", "x.db", "--json").out.splitlines()) == 1


WRITER = """
import sqlite3, sys
database = sqlite3.connect("x.db", isolation_level=None)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def test_plans_are_listed_while_another_process_writes_and_a_plan_is_refused_with_a_sentence(
    clew, run, folder, monkeypatch
):
    run("--db", "x.db")
    before = (folder / "x.db").read_bytes()
    monkeypatch.setenv("CLEW_DB_WAIT", "0.1")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", WRITER], **pipes) as writer:
        assert writer.stdout.readline() == "held\n"
        listed = clew("plans", "--db", "x.db")
        assert (listed.code, listed.out) == (0, NO_PLANS)
        plan = clew("plan", "do it", "--model", f"script:{folder}/script.json", "--db", "x.db")
        assert_refused(plan, "x.db is locked by another process: try again when that one has finished")
        writer.communicate()
    assert (folder / "x.db").read_bytes() == before


@pytest.mark.parametrize("kilobytes", [30, 64, 100])
def test_a_plan_on_a_disk_that_takes_no_more_is_told_wherever_it_fails(run, start, folder, kilobytes):
    run("--db", "x.db")
    small = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (kilobytes * 1024, kilobytes * 1024))
    plan = start("plan", "do it", "--model", f"script:{folder}/script.json", "--db", "y.db", preexec_fn=small)
    err = plan.communicate()[1]
    assert (plan.returncode, err) == (1, f"clew: y.db {NO_ROOM}\n")


NO_ROOM = "could not be read or written by the disk: check the disk and its free space"

ON_A_BAD_DISK = """
import contextlib, io, json, sys
from pathlib import Path
from clew.apps.cli.main import main

def clew(*argv):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(argv)
    return [code, out.getvalue(), err.getvalue()]

def run(database, thread):
    return clew("run", "do it", "--model", "script:script.json", "--thread", thread, "--db", database)

places = ("folder/x.db", "file.db")
found = {place: run(place, "t2") for place in places}
found["read"] = clew("show", "t1", "--db", "file.db")
found["plans"] = clew("plans", "--db", "file.db")
found["plan"] = clew("plan", "do it", "--model", "script:script.json", "--db", "file.db")
found["begun"] = run("small/x.db", "t1")
with contextlib.suppress(OSError), Path("small/filler").open("wb", buffering=0) as filler:
    while True:
        filler.write(bytes(512))
found["full"] = [run("small/x.db", "t2"), run("small/y.db", "t1")]
found["export"] = [*clew("export", "t1", "small/t1.clew", "--db", "file.db"), Path("small/t1.clew").exists()]
Path("small/filler").unlink()
found["after"] = [clew("show", "t1", "--db", "small/x.db"), run("small/x.db", "t3")]
print(json.dumps(found))
"""


@pytest.mark.needs("bwrap")
def test_a_read_only_or_a_full_disk_is_told_and_loses_nothing(run, folder):
    sentences = {"folder/x.db": "cannot be opened: check the path and the access", "file.db": "is read-only: give"}
    for place in sentences:
        run("--db", place)
    before = {place: Path(place).read_bytes() for place in sentences}
    (folder / "small").mkdir()
    fixed = [word for name in ("folder", "file.db") for word in ("--ro-bind", name, f"{folder}/{name}")]
    small = ["--size", "400000", "--tmpfs", f"{folder}/small"]
    inside = ["--dev-bind", "/", "/", *fixed, *small, "--chdir", str(folder), sys.executable, "-c", ON_A_BAD_DISK]
    done = subprocess.run(["bwrap", *inside], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["plans"] == [0, NO_PLANS, ""]
    code, out, err = found["plan"]
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert "file.db is read-only: give this user write access" in err
    assert found["begun"][0] == 0
    for place, sentence in sentences.items():
        code, _, err = found[place]
        assert (code, len(err.splitlines())) == (1, 1)
        assert f"{place} {sentence}" in err
    assert found["read"][0] == 0
    for code, _, err in found["full"]:
        assert (code, len(err.splitlines())) == (1, 1)
        assert "the disk" in err
        assert "CheckpointError" not in err
    code, _, err, exists = found["export"]
    assert (code, len(err.splitlines()), exists) == (1, 1, False)
    assert "small/t1.clew could not be written (No space left on device): free some space" in err
    shown, another = found["after"]
    assert (shown[0], "agent: All done." in shown[1], another[0]) == (0, True, 0)
    assert {place: Path(place).read_bytes() for place in sentences} == before
