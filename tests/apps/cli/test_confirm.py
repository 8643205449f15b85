"""Tool calls that a person decides about, from the terminal and with `clew resume`."""

from __future__ import annotations

import json

import pytest

ANSWER = "All done."


@pytest.fixture(autouse=True)
def no_policy(folder, monkeypatch):
    """The policy of a person who has chosen none."""
    monkeypatch.delenv("CLEW_CONFIRM")


@pytest.fixture
def results(clew):
    def of(thread):
        messages = json.loads(clew("show", thread, "--json").out)["messages"]
        return [message["data"] for message in messages if message["type"] == "tool"]

    return of


@pytest.fixture
def waiting(clew, script, calls):
    """Begin a thread `t1` that asks about these calls."""

    def begin(*wanted, flags=("--confirm", "risky")):
        model = script(calls(*wanted), ANSWER)
        result = clew("run", "do it", "--model", model, "--thread", "t1", "--json", *flags)
        assert (result.code, result.end["status"], result.end["reason"]) == (3, "waiting", "confirm")
        (question,) = [event for event in result.events if event["event"] == "question"]
        return result, question

    return begin


def test_json_events_carry_the_question_with_the_calls(waiting):
    result, question = waiting(("bash", {"command": "rm -rf build", "timeout": 5}))
    (call,) = question["data"]["calls"]
    assert (question["kind"], question["path"]) == ("confirm", ["manus"])
    assert (call["name"], call["risk"], call["kind"]) == ("bash", "high", "bash (high risk)")
    assert call["preview"] == {"language": "bash", "text": "rm -rf build", "arguments": ["command"]}
    assert "tool_start" not in {event["event"] for event in result.events}
    assert "clew resume t1 --approve | --approve-kind | --reject REASON | --edit JSON" in result.err


def test_an_approved_command_runs(clew, waiting, results):
    waiting(("bash", {"command": "echo hi"}))
    result = clew("resume", "t1", "--approve", "--json")
    assert (result.code, result.end["status"], result.end["answer"]) == (0, "finished", ANSWER)
    assert "hi" in results("t1")[0]["content"]


def test_a_rejected_command_does_not_run_and_the_reason_is_told(clew, waiting, results, folder):
    waiting(("bash", {"command": "touch made"}))
    result = clew("resume", "t1", "--reject", "make it a dry run", "--json")
    assert result.code == 0
    (ended,) = [event for event in result.events if event["event"] == "tool_end"]
    assert (ended["status"], "make it a dry run" in ended["text"]) == ("error", True)
    assert not list(folder.rglob("made"))


def test_an_edited_command_runs_as_edited(clew, waiting, results):
    waiting(("bash", {"command": "echo wrong"}))
    result = clew("resume", "t1", "--edit", '{"command": "echo right"}', "--json")
    assert result.code == 0
    assert "right" in results("t1")[0]["content"]


def test_an_edit_that_the_tool_does_not_take_is_asked_about_again(clew, waiting, results):
    waiting(("bash", {"command": "echo hi"}))
    result = clew("resume", "t1", "--edit", '{"comand": "echo hi"}', "--json")
    (question,) = [event for event in result.events if event["event"] == "question"]
    assert result.code == 3
    assert "no argument comand" in question["question"]
    assert clew("resume", "t1", "--approve", "--json").code == 0


def test_several_calls_are_decided_by_id(clew, waiting, results):
    _, question = waiting(*[("bash", {"command": f"echo {word}"}) for word in ("one", "two", "three")])
    one, two, _ = [call["id"] for call in question["data"]["calls"]]
    edit = f'{one}={{"command": "echo ONE"}}'
    result = clew("resume", "t1", "--edit", edit, "--reject", f"{two}=not that", "--approve", "--json")
    assert result.code == 0
    texts = {data["tool_call_id"]: data["content"] for data in results("t1")}
    assert "ONE" in texts[one]
    assert "not that" in texts[two]
    assert "three" in list(texts.values())[-1]


def test_what_is_left_open_is_asked_again_and_what_was_decided_is_not(clew, waiting):
    _, question = waiting(("bash", {"command": "echo one"}), ("bash", {"command": "echo two"}))
    one, two = [call["id"] for call in question["data"]["calls"]]
    result = clew("resume", "t1", "--reject", f"{one}=no", "--json")
    (again,) = [event for event in result.events if event["event"] == "question"]
    assert result.code == 3
    assert [call["id"] for call in again["data"]["calls"]] == [two]
    assert clew("resume", "t1", "--approve", "--json").code == 0


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (["--edit", "echo hi"], "JSON object"),
        (["--edit", "[1]"], "JSON object"),
        (["--edit", '{"command": "x"}'], "--edit 'call_"),
        (["--edit", 'call_other={"command": "x"}'], "JSON object"),
        (["--edit", 'call_={"command": "x"}'], "whole id"),
        (["--reject", "call_script_0_0=a", "--reject", "call_script_0_0=b"], "twice"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_lost(clew, waiting, flags, names):
    waiting(("bash", {"command": "echo one"}), ("bash", {"command": "echo two"}))
    result = clew("resume", "t1", *flags)
    assert (result.code, result.out, len(result.err.splitlines())) == (2, "", 1)
    assert names in result.err
    assert clew("resume", "t1", "--approve", "--json").code == 0


def test_flags_on_a_thread_that_asks_nothing_are_refused(clew, script):
    clew("run", "do it", "--model", script(ANSWER), "--thread", "t1")
    result = clew("resume", "t1", "--approve")
    assert result.code == 2
    assert "asks about no call" in result.err


def test_a_kind_is_approved_for_the_rest_of_the_run(clew, script, calls):
    look = [calls(("bash", {"command": f"echo {number}"})) for number in range(3)]
    clew("run", "do it", "--model", script(*look, ANSWER), "--thread", "t1", "--confirm", "always")
    result = clew("resume", "t1", "--approve-kind", "--json")
    assert (result.code, result.end["steps"]) == (0, 4)


def test_the_thread_remembers_its_policy_and_a_flag_goes_over_it(clew, script, calls):
    look = [calls(("bash", {"command": f"echo {number}"})) for number in range(3)]
    clew("run", "do it", "--model", script(*look, ANSWER), "--thread", "t1", "--confirm", "always")
    assert clew("resume", "t1", "--approve", "--json").code == 3
    assert clew("resume", "t1", "--approve", "--confirm", "never", "--json").code == 0


def test_a_headless_run_rejects_what_a_person_would_have_to_approve(clew, script, calls, results):
    model = script(calls(("bash", {"command": "echo hi"})), ANSWER)
    result = clew("run", "do it", "--model", model, "--confirm", "risky", "--headless", "--json", "--thread", "t1")
    assert (result.code, result.end["status"]) == (0, "finished")
    assert "nobody is there" in results("t1")[0]["content"]


def test_without_a_sandbox_that_contains_risky_calls_are_asked_about(clew, script, calls, monkeypatch):
    monkeypatch.setenv("CLEW_SANDBOX__BACKEND", "local")
    wanted = calls(("str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}))
    model = script(wanted, calls(("bash", {"command": "cat a"})), ANSWER)
    result = clew("run", "do it", "--model", model, "--thread", "t1", "--json")
    (question,) = [event for event in result.events if event["event"] == "question"]
    assert [call["name"] for call in question["data"]["calls"]] == ["bash"]
    assert clew("resume", "t1", "--approve", "--json").code == 0


def test_the_settings_name_the_policy(clew, script, calls, folder):
    (folder / "clew.toml").write_text('confirm = "always"\n')
    model = script(calls(("str_replace_editor", {"command": "view", "path": "."})), ANSWER)
    assert clew("run", "do it", "--model", model, "--thread", "t1", "--json").end["reason"] == "confirm"


def test_plain_output_shows_the_difference_of_an_edit(clew, script, calls, folder):
    (folder / "w").mkdir()
    (folder / "w" / "a.txt").write_text("one\ntwo\n")
    edit = {"command": "str_replace", "path": "a.txt", "old_str": "two", "new_str": "2"}
    model = script(calls(("str_replace_editor", edit)), ANSWER)
    run = ["run", "do it", "--model", model, "--thread", "t1", "--confirm", "always", "--workspace", "w"]
    shown = clew(*run).out
    assert "medium risk\n    --- a.txt\n    +++ a.txt\n    @@ -1,2 +1,2 @@\n     one\n    -two\n    +2\n" in shown
    assert "-two" in clew("show", "t1").out
    assert (folder / "w" / "a.txt").read_text() == "one\ntwo\n"


def test_what_a_terminal_would_obey_or_hide_is_written_out(clew, script, calls):
    model = script(calls(("bash", {"command": "rm -r x\x1b[2K\r\u202eecho hi"})), ANSWER)
    out = clew("run", "do it", "--model", model, "--thread", "t1", "--confirm", "risky").out
    assert "rm -r x\\x1b[2K\\r\\u202eecho hi" in out
    assert "\x1b[2K" not in out.split("asks (confirm)")[1]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("y\n", "hi"),
        ("\n?\nyes\n", "hi"),
        ("n make it dry\n", "make it dry"),
        ("n\nbecause\n", "because"),
        ('e\n{"command": "echo other"}\n', "other"),
        ("e\nno json\ny\n", "hi"),
        ("a\n", "hi"),
    ],
)
def test_a_person_at_the_terminal_decides(clew, script, calls, terminal, results, monkeypatch, typed, said):
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    model = script(calls(("bash", {"command": "echo hi"})), ANSWER)
    terminal(typed)
    result = clew("run", "do it", "--model", model, "--thread", "t1", "--confirm", "risky")
    assert result.code == 0
    assert said in results("t1")[0]["content"]


def test_an_edit_is_made_in_the_persons_editor(clew, script, calls, terminal, results, monkeypatch):
    monkeypatch.setenv("VISUAL", "sed -i s/hi/edited/")
    model = script(calls(("bash", {"command": "echo hi"})), ANSWER)
    terminal("e\n")
    assert clew("run", "do it", "--model", model, "--thread", "t1", "--confirm", "risky").code == 0
    assert "edited" in results("t1")[0]["content"]


def test_a_thread_that_waits_for_a_decision_is_forked_and_moved_with_its_question(clew, script, calls, folder):
    model = script(calls(("bash", {"command": "echo hi"})), "All done.")
    clew("run", "do it", "--model", model, "--thread", "t1", "--confirm", "risky")
    rows = [json.loads(line) for line in clew("history", "t1", "--json").out.splitlines()]
    newest = rows[0]["checkpoint"]
    assert clew("fork", "t1", "--at", newest, "--to", "t2").code == 0
    first = clew("resume", "t2", "--json")
    assert first.code == 3
    assert clew("resume", "t2", "--approve", "--json").code == 0
    assert clew("export", "t1", "t1.clew").code == 0
    assert clew("import", "t1.clew", "--thread", "t3").code == 0
    assert clew("resume", "t3", "--reject", "no", "--json").code == 0
    assert clew("fork", "t1", "--at", newest).code == 0
    assert clew("resume", "t1", "--json").code == 3
    assert clew("resume", "t1", "--approve", "--json").code == 0
