"""A run says first where its commands run, and once for each home where nothing contains them."""

import pytest

ONCE = "nothing contains commands here"


@pytest.mark.needs("bwrap")
def test_the_first_line_of_a_run_names_the_sandbox(clew, script):
    lines = clew("run", "do it", "--model", script("Done."), "--thread", "t1").out.splitlines()
    assert lines[0] == "thread t1, bubblewrap: commands see the workspace and no other file, without network"
    assert ONCE not in "".join(lines)


@pytest.mark.needs("bwrap")
def test_the_start_event_says_whether_commands_are_contained(clew, script, monkeypatch):
    model = script("Done.")
    start = clew("run", "do it", "--model", model, "--json").events[0]
    assert (start["sandbox"]["name"], start["sandbox"]["contained"]) == ("bubblewrap", True)
    monkeypatch.setenv("CLEW_SANDBOX__BACKEND", "local")
    start = clew("run", "do it", "--model", model, "--json").events[0]
    assert (start["sandbox"]["name"], start["sandbox"]["contained"]) == ("local", False)


def test_where_nothing_contains_a_person_is_told_once_with_the_remedy(clew, script, folder, monkeypatch):
    model = script("Done.")
    monkeypatch.setenv("PATH", str(folder))
    first = clew("run", "do it", "--model", model, "--json")
    assert first.events[0]["sandbox"]["contained"] is False
    assert ONCE in first.err
    assert "install the package bubblewrap" in first.err
    assert ONCE not in clew("run", "do it", "--model", model, "--json").err
    monkeypatch.setenv("CLEW_HOME", str(folder / "other"))
    assert ONCE in clew("run", "do it", "--model", model).out


def test_who_chose_the_local_backend_knows(clew, script, monkeypatch):
    monkeypatch.setenv("CLEW_SANDBOX__BACKEND", "local")
    out = clew("run", "do it", "--model", script("Done."), "--thread", "t1").out
    assert out.startswith("thread t1, local: commands run with all of your rights\n")
    assert ONCE not in out


def test_a_sandbox_that_is_asked_for_and_does_not_work_ends_the_run_before_it_begins(clew, script, folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("CLEW_SANDBOX__BACKEND", "bubblewrap")
    result = clew("run", "do it", "--model", script("Done."), "--thread", "t1")
    assert result.code not in (0, 3, 4)
    assert len(result.err.splitlines()) == 1
    assert "install the package bubblewrap" in result.err
    assert "t1" not in clew("threads").out
