"""Long outputs go with their thread: stored, encrypted, counted, moved and deleted with it."""

import json
import stat
from pathlib import Path

import pytest

LONG = "seq -f 'line %g of a long output' 10000; echo $SAID"
SECRET = "value-of-no-known-shape"


@pytest.fixture
def kept(clew, script, calls, monkeypatch):
    """A thread with a long output and a file, encrypted; gives the copy of the output."""
    monkeypatch.setenv("CLEW_ENCRYPTION_KEY", "a key of sixteen characters or more")
    monkeypatch.setenv("STRIPE_KEY", SECRET)
    say = f"{LONG.replace('$SAID', SECRET)}; echo mine >made.txt"
    model = script(calls(("bash", {"command": say})), "Done.")
    assert clew("run", "talk", "--model", model, "--thread", "t1").code == 0
    [copy] = Path(".clew/workspaces/t1/.clew/outputs").iterdir()
    return copy


def payloads(clew, *flags):
    return [thread["payloads"] for thread in json.loads(clew("du", "--json", *flags).out)["threads"]]


def test_the_whole_is_masked_encrypted_and_counted(clew, kept, folder):
    text = kept.read_text()
    assert text.startswith("line 1 of a long output\n")
    assert text.endswith("line 10000 of a long output\n[redacted]\n")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert payloads(clew) == [len(text)]
    stored = [file.read_bytes() for file in (folder / ".clew").glob("clew.db*")]
    assert not [content for content in stored if b"of a long output" in content or SECRET.encode() in content]


def test_a_thread_that_was_moved_reads_it_elsewhere(clew, kept, script, calls, folder, monkeypatch):
    assert clew("export", "t1", "t1.clew").code == 0
    assert b"of a long output" not in Path("t1.clew").read_bytes()
    monkeypatch.setenv("CLEW_HOME", "other")
    assert clew("import", "t1.clew").code == 0
    assert payloads(clew) == [kept.stat().st_size]
    look = calls(("bash", {"command": f"tail -n 2 .clew/outputs/{kept.name}"}))
    model = script(calls(("bash", {"command": "true"})), "Done.", look, "Seen.", name="second")
    other = str(folder / "there")
    assert clew("run", "look", "--thread", "t1", "--model", model, "--workspace", other).code == 0
    results = [message["data"] for message in json.loads(clew("show", "t1", "--json").out)["messages"]]
    assert [each["content"] for each in results if each["type"] == "tool"][-1] == (
        "line 10000 of a long output\n[redacted]\n[exit code 0]"
    )


@pytest.mark.parametrize("command", [["delete", "t1"], ["prune", "t1", "--delete"]])
def test_it_goes_with_its_thread_and_what_the_run_made_stays(clew, kept, command):
    other = kept.with_name("bash-0123456789abcdef.log")
    other.write_text("of another thread")
    assert clew(*command).code == 0
    assert list(kept.parent.iterdir()) == [other]
    assert Path(".clew/workspaces/t1/made.txt").exists()
    assert payloads(clew) == []


def test_a_pruning_that_keeps_the_thread_keeps_it(clew, kept):
    assert clew("prune", "t1", "--keep-latest").code == 0
    assert kept.exists()
    assert payloads(clew) == [kept.stat().st_size]


def test_a_thread_in_the_same_workspace_that_has_it_too_keeps_it(clew, script, calls, folder):
    for thread in ("t1", "t2"):
        model = script(calls(("bash", {"command": LONG})), "Done.", name=thread)
        clew("run", "talk", "--model", model, "--thread", thread, "--workspace", "work")
    [copy] = Path("work/.clew/outputs").iterdir()
    clew("delete", "t1")
    assert copy.exists()
    clew("delete", "t2")
    assert not copy.exists()
