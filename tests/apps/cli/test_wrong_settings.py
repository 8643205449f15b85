"""What settings say wrongly is told where a run starts, in one line, and nothing is begun."""

from __future__ import annotations

import json
import socket

import pytest


@pytest.fixture
def refused(folder):
    """See that a command was refused in one line with code 2, before anything was made."""

    def refused(result, sentence):
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("clew: ")
        assert sentence in result.err
        assert len(result.err.splitlines()) == 1
        assert not (folder / ".clew").exists()

    return refused


@pytest.fixture
def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.mark.parametrize("command", [["run", "x"], ["plan", "x"], ["serve", "a2a"], ["serve", "mcp"]])
@pytest.mark.parametrize("by", ["variable", "file"])
def test_a_workspace_that_is_a_file(clew, script, folder, monkeypatch, refused, command, by):
    (folder / "note").write_text("a file")
    if by == "variable":
        monkeypatch.setenv("CLEW_WORKSPACE", "note")
    else:
        (folder / "clew.toml").write_text('workspace = "note"')
    result = clew(*command, "--model", script("Done."))
    refused(result, f"the workspace {folder}/note is no folder; name one, or one that is to be made, with --workspace")


def test_a_flag_goes_over_a_wrong_workspace_and_doctor_tells_it(clew, script, folder, monkeypatch):
    (folder / "note").write_text("a file")
    monkeypatch.setenv("CLEW_WORKSPACE", "note")
    assert clew("run", "x", "--model", script("Done."), "--workspace", "files").code == 0
    findings = {each["subject"]: each for each in clew("doctor", "--json").events}
    assert (findings["workspace"]["ok"], "CLEW_WORKSPACE" in findings["workspace"]["remedy"]) == (False, True)


def test_a_workspace_that_became_a_file_is_told_before_the_thread_goes_on(clew, script, calls, folder):
    model = script(calls(("ask_human", {"inquire": "Which?"})), "Done.")
    assert clew("run", "x", "--model", model, "--thread", "t1", "--workspace", "files").code == 3
    (folder / "files").write_text("a file")
    result = clew("resume", "t1", "--answer", "red", "--json")
    assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert "files is no folder" in result.err
    assert json.loads(clew("show", "t1", "--json").out)["status"] == "waiting"
    assert clew("resume", "t1", "--answer", "red", "--workspace", "others").code == 0


def test_a_variable_that_nothing_reads_is_one_line_on_stderr_and_the_run_goes_on(clew, script, monkeypatch):
    monkeypatch.setenv("CLEW_MODLE", "openai:gpt-5")
    result = clew("run", "x", "--model", script("Done."), "--json")
    assert (result.code, result.end["answer"]) == (0, "Done.")
    assert [line for line in result.err.splitlines() if line.startswith("clew: ")] == [
        "clew: nothing reads CLEW_MODLE (did you mean CLEW_MODEL?); clew.example.toml shows all settings"
    ]
    assert "CLEW_MODLE" not in clew("run", "--help").err


@pytest.mark.parametrize("command", [["run", "x"], ["threads"], ["doctor"]])
def test_a_settings_file_that_is_none(clew, folder, refused, command):
    (folder / "clew.toml").mkdir()
    refused(clew(*command), "clew.toml is a folder: move it away")
    (folder / "clew.toml").rmdir()
    (folder / "clew.toml").symlink_to("nowhere.toml")
    refused(clew(*command), "clew.toml is a link that leads nowhere: mend it")


SUMMARIES = '[[condense]]\nkind = "summarize"\nmax_messages = 4\nmodel = "smal"\n'
UNKNOWN_MODEL = "clew: [[condense]] model: no model is called 'smal': write openai:smal, or add a table [llm.smal].\n"


@pytest.mark.parametrize(
    "command",
    [["run", "x"], ["run", "x", "--agent", "hub"], ["plan", "x"], ["serve", "a2a"], ["serve", "mcp"]],
)
def test_the_model_of_a_condenser_that_is_not_to_be_had(clew, script, folder, free_port, command):
    (folder / "clew.toml").write_text(SUMMARIES)
    place = ["--port", free_port] if command == ["serve", "a2a"] else []
    result = clew(*command, "--model", script("Done."), *place)
    assert (result.code, result.out, result.err) == (2, "", UNKNOWN_MODEL)
    assert clew("threads", "--json").out == ""


def test_a_condenser_with_a_model_that_is_there_is_no_hindrance(clew, script, folder):
    (folder / "clew.toml").write_text(f'{SUMMARIES}[llm.smal]\nmodel = "{script("A summary.", name="small")}"\n')
    assert clew("run", "x", "--model", script("Done.")).code == 0


def test_a_condenser_is_looked_at_when_a_thread_goes_on_too(clew, script, calls, folder):
    model = script(calls(("ask_human", {"inquire": "Which?"})), "Done.")
    assert clew("run", "x", "--model", model, "--thread", "t1").code == 3
    (folder / "clew.toml").write_text(SUMMARIES)
    result = clew("resume", "t1", "--answer", "red")
    assert (result.code, result.out, result.err) == (2, "", UNKNOWN_MODEL)
    (folder / "clew.toml").unlink()
    assert clew("resume", "t1", "--answer", "red").code == 0


@pytest.mark.parametrize("command", [["plan", "x"], ["serve", "mcp"]])
def test_an_agent_of_plans_that_there_is_not(clew, script, folder, refused, command):
    (folder / "clew.toml").write_text('[runflow]\nagents = ["manus", "brows"]\n')
    refused(clew(*command, "--model", script("Done.")), "[runflow] agents: no agent 'brows'; did you mean 'browser'?")
    assert clew("run", "x", "--model", script("Done.")).code == 0  # it carries out no plan


def test_doctor_tells_names_that_lead_nowhere(clew, script, folder, monkeypatch):
    monkeypatch.setenv("CLEW_MODEL", script("Done."))
    (folder / "clew.toml").write_text(f'{SUMMARIES}[runflow]\nagents = ["brows"]\n')
    findings = {each["subject"]: each for each in clew("doctor", "--json").events}
    assert "did you mean 'browser'?" in findings["runflow"]["remedy"]
    assert "no model is called 'smal'" in findings["condense"]["remedy"]
    (folder / "clew.toml").write_text('[[condense]]\nkind = "recent"\n[runflow]\nagents = ["browser"]\n')
    findings = {each["subject"]: each for each in clew("doctor", "--json").events}
    assert (findings["runflow"]["state"], findings["condense"]["state"]) == ("browser", "recent")
