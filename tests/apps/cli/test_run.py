from __future__ import annotations

import json

import pytest

from clew.state.stream import read_event

ANSWER = "All done."


def test_a_task_ends_with_the_documented_line_and_code_0(clew, script, calls):
    model = script(calls(("bash", {"command": "echo hi > made.txt; cat made.txt"}), content="I look."), ANSWER)
    result = clew("run", "do it", "--model", model, "--json", "--thread", "t1")
    assert result.code == 0
    assert [event["event"] for event in result.events] == ["start", "think", "tool_start", "tool_end", "think", "end"]
    assert list(result.end) == ["event", "thread", "status", "reason", "answer", "steps", "usage", "metrics"]
    *facts, usage, _ = result.end.values()
    assert facts == ["end", "t1", "finished", "answer", ANSWER, 2]
    assert list(usage) == ["llm_calls", "input_tokens", "cached_tokens", "output_tokens", "cost"]
    assert usage["llm_calls"] == 2


def test_every_line_of_json_is_an_event(clew, script, calls):
    model = script(calls(("ask_human", {"inquire": "Why?"})), ANSWER)
    result = clew("run", "do it", "--model", model, "--json")
    assert [read_event(line).event for line in result.out.splitlines()] == [event["event"] for event in result.events]


def test_plain_lines_say_what_happens_what_was_made_and_how_to_look_at_it(clew, script, calls, folder):
    model = script(calls(("bash", {"command": "echo hi > made.txt"}), content="I write a file."), ANSWER)
    result = clew("run", "do it", "--model", model, "--thread", "t1")
    assert result.code == 0
    assert "step 1: I write a file." in result.out
    assert "\x1b" not in result.out
    assert f"made 1 file in {folder}/.clew/workspaces/t1\n  made.txt\n" in result.out
    assert result.out.endswith("look at it with: clew show t1\n")
    assert (folder / ".clew/workspaces/t1/made.txt").read_text() == "hi\n"


def test_an_agent_that_gives_up_finishes_with_code_1(clew, script, calls):
    model = script(calls(("terminate", {"status": "failure", "answer": "I cannot."})))
    result = clew("run", "do it", "--model", model, "--json")
    assert (result.code, result.end["status"], result.end["answer"]) == (1, "finished", "I cannot.")


def test_an_error_of_the_model_ends_with_code_1_and_can_be_tried_again(clew, script):
    refused = script({"error": {"status": 401, "message": "wrong key"}})
    result = clew("run", "do it", "--model", refused, "--json", "--thread", "t1")
    assert (result.code, result.end["status"]) == (1, "error")
    assert "wrong key" in result.end["reason"]
    assert "try again with: clew resume t1" in result.err
    again = clew("resume", "t1", "--model", script(ANSWER, name="good"), "--json")
    assert (again.code, again.end["status"], again.end["answer"]) == (0, "finished", ANSWER)


def test_a_headless_limit_ends_with_code_4_and_a_raised_one_goes_on(clew, script, calls):
    look = [calls(("bash", {"command": f"echo {number}"})) for number in range(3)]
    model = script(*look, ANSWER)
    result = clew("run", "do it", "--model", model, "--max-steps", "2", "--headless", "--json", "--thread", "t1")
    assert (result.code, result.end["status"], result.end["reason"], result.end["steps"]) == (
        4,
        "limit",
        "max_steps",
        2,
    )
    refused = clew("resume", "t1", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "--max-steps" in refused.err
    again = clew("resume", "t1", "--max-steps", "9", "--json")
    assert (again.code, again.end["status"], again.end["steps"]) == (0, "finished", 4)


def test_a_limit_with_somebody_to_ask_waits_with_code_3(clew, script, calls):
    look = [calls(("bash", {"command": f"echo {number}"})) for number in range(3)]
    result = clew("run", "do it", "--model", script(*look, ANSWER), "--max-steps", "2", "--json", "--thread", "t1")
    assert (result.code, result.end["status"], result.end["reason"]) == (3, "waiting", "limit")
    (question,) = [event for event in result.events if event["event"] == "question"]
    assert question["data"] == {"steps": 2, "max_steps": 2}
    stopped = clew("resume", "t1", "--answer", "stop", "--json")
    assert (stopped.code, stopped.end["status"]) == (4, "limit")


def test_a_raised_limit_answers_the_question_about_it(clew, script, calls):
    look = [calls(("bash", {"command": f"echo {number}"})) for number in range(3)]
    clew("run", "do it", "--model", script(*look, ANSWER), "--max-steps", "2", "--json", "--thread", "t1")
    again = clew("resume", "t1", "--max-steps", "3", "--json")
    assert (again.code, again.end["reason"], again.end["steps"]) == (3, "limit", 3)
    assert clew("resume", "t1", "--answer", "8", "--json").end["status"] == "finished"


def test_an_agent_that_repeats_itself_ends_with_code_5(clew, script, calls):
    model = script(*[calls(("bash", {"command": "echo again"}))] * 12)
    result = clew("run", "do it", "--model", model, "--json", "--headless")
    assert (result.code, result.end["status"]) == (5, "stuck")
    assert [event["event"] for event in result.events].count("nudge") == 1


def test_a_person_decides_about_an_agent_that_repeats_itself(clew, script, calls):
    model = script(*[calls(("str_replace_editor", {"command": "view", "path": "."}))] * 8, ANSWER)
    waiting = clew("run", "do it", "--model", model, "--json", "--thread", "t1")
    assert (waiting.code, waiting.end["reason"]) == (3, "stuck")
    assert "clew resume t1 --answer TEXT" in waiting.err
    again = clew("resume", "t1", "--answer", "3", "--json")  # the number of an option stands for it
    assert (again.code, again.end["status"], again.end["steps"]) == (0, "finished", 9)


def test_questions_of_one_message_are_answered_one_by_one_in_any_order(clew, script, calls):
    both = calls(("ask_human", {"inquire": "Colour?"}), ("ask_human", {"inquire": "Size?"}))
    result = clew("run", "do it", "--model", script(both, ANSWER), "--json", "--thread", "t1")
    assert result.code == 3
    asked = {event["question"]: event["id"] for event in result.events if event["event"] == "question"}
    assert [line for line in result.err.splitlines() if "clew resume t1 --answer" in line] == [
        f"answer with: clew resume t1 --answer {identifier}=TEXT" for identifier in asked.values()
    ]
    unclear = clew("resume", "t1", "--answer", "red", "--json")
    assert (unclear.code, unclear.out) == (2, "")
    first = clew("resume", "t1", "--answer", f"{asked['Size?']}=large", "--json")
    assert (first.code, first.end["reason"]) == (3, "input")
    second = clew("resume", "t1", "--answer", "red", "--json")
    assert second.code == 0
    said = [message["data"]["content"] for message in shown(clew, "t1")["messages"] if message["type"] == "tool"]
    assert said == ["red", "large"]


def test_a_resume_without_an_answer_asks_again_with_code_3(clew, script, calls):
    model = script(calls(("ask_human", {"inquire": "Colour?"})), ANSWER)
    clew("run", "do it", "--model", model, "--thread", "t1")
    result = clew("resume", "t1", "--json")
    assert [event["event"] for event in result.events] == ["question", "end"]
    assert (result.code, result.end["status"]) == (3, "waiting")


@pytest.mark.parametrize(("flags", "code"), [([], 0), (["--headless"], 3)])
def test_a_person_at_a_terminal_is_asked_unless_the_run_is_headless(clew, script, calls, terminal, flags, code):
    model = script(calls(("ask_human", {"inquire": "Colour?"})), ANSWER)
    terminal("red\n")
    result = clew("run", "do it", "--model", model, "--thread", "t1", *flags)
    assert (result.code, "answer> " in result.out) == (code, code == 0)
    said = [message["data"]["content"] for message in shown(clew, "t1")["messages"]]
    assert ("red" in said) == (code == 0)


def test_a_resume_of_a_finished_thread_says_how_it_ended(clew, script):
    clew("run", "do it", "--model", script(ANSWER), "--thread", "t1")
    result = clew("resume", "t1", "--json")
    assert (result.code, len(result.events), result.end["answer"]) == (0, 1, ANSWER)


def test_a_second_task_on_an_ended_thread_keeps_the_history_and_starts_its_counters_anew(clew, script):
    clew("run", "first", "--model", script("One."), "--thread", "t1")
    result = clew("run", "second", "--model", script("One.", "Two.", name="both"), "--thread", "t1", "--json")
    assert (result.code, result.end["answer"], result.end["steps"]) == (0, "Two.", 1)
    data = shown(clew, "t1")
    assert [message["data"]["content"] for message in data["messages"]] == ["first", "One.", "second", "Two."]
    assert data["task"] == "second"


def test_a_task_on_a_thread_that_waits_is_refused(clew, script, calls):
    model = script(calls(("ask_human", {"inquire": "Colour?"})), ANSWER)
    clew("run", "do it", "--model", model, "--thread", "t1")
    result = clew("run", "another", "--model", model, "--thread", "t1")
    assert result.code == 2
    assert "clew resume t1" in result.err


def test_the_thread_remembers_model_workspace_and_limit_and_flags_override_them(clew, script, calls, folder):
    ask = calls(("ask_human", {"inquire": "Colour?"}))
    relative = script(ask, calls(("bash", {"command": "pwd"})), ANSWER).replace(f"{folder}/", "")
    clew("run", "do it", "--model", relative, "--workspace", "here", "--max-steps", "7", "--thread", "t1")
    data = shown(clew, "t1")
    assert data["model"] == f"script:{folder}/script.json"
    assert data["workspace"] == f"{folder}/here"
    assert data["max_steps"] == 7
    result = clew("resume", "t1", "--answer", "red", "--workspace", "there", "--json")
    (ran,) = [event["text"] for event in result.events if event["event"] == "tool_end" and event["name"] == "bash"]
    assert f"{folder}/there" in ran
    assert shown(clew, "t1")["workspace"] == f"{folder}/there"


def test_a_recording_of_a_run_replays_it(clew, script, calls, folder):
    model = script(calls(("bash", {"command": "echo hi"})), ANSWER)
    first = clew("run", "do it", "--model", model, "--record", "calls.jsonl", "--json", "--workspace", "w")
    replayed = clew("run", "do it", "--model", "replay:calls.jsonl", "--json", "--workspace", "w")
    assert replayed.code == 0
    assert replayed.end["answer"] == first.end["answer"] == ANSWER
    assert replayed.end["steps"] == 2


def test_an_image_is_part_of_the_task(clew, script, folder):
    (folder / "a.png").write_bytes(b"\x89PNG")
    clew("run", "what is it?", "--image", "a.png", "--model", script(ANSWER), "--thread", "t1")
    (task, _) = shown(clew, "t1")["messages"]
    assert [block["type"] for block in task["data"]["content"]] == ["text", "image"]


@pytest.mark.parametrize(
    ("argv", "names"),
    [
        (["run", "x"], "CLEW_MODEL"),
        (["run", "x", "--model", "script:none.json"], "none.json"),
        (["run", "x", "--agent", "mouse", "--model", "script:none.json"], "mouse"),
        (["run", "x", "--db", "ftp://x"], "sqlite:///"),
        (["run", "x", "--image", "none.png", "--model", "script:none.json"], "none.png"),
        (["resume", "nothread"], "clew threads"),
        (["show", "nothread"], "clew threads"),
        (["history", "nothread"], "clew threads"),
        (["delete", "nothread"], "clew threads"),
        (["fork", "nothread", "--at", "x"], "clew threads"),
        (["graph", "mouse"], "mouse"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_that_names_the_fix_and_code_2(clew, argv, names):
    result = clew(*argv)
    assert (result.code, result.out) == (2, "")
    assert names in result.err
    assert result.err.startswith("clew: ")
    assert len(result.err.splitlines()) == 1


def test_debug_shows_where_an_error_was_raised(clew):
    from clew.state.errors import UsageError

    with pytest.raises(UsageError):
        clew("resume", "nothread", "--debug")


def test_a_wrong_name_leaves_no_thread_behind(clew):
    clew("run", "x", "--model", "script:none.json", "--thread", "t1")
    assert clew("threads", "--json").out == ""


def test_settings_come_from_flags_over_variables_over_the_file(clew, script, folder, monkeypatch):
    models = {name: script(name, name=name) for name in ("flag", "variable", "file")}
    (folder / "clew.toml").write_text(f'model = "{models["file"]}"\n')

    def answer(*flags):
        return clew("run", "do it", "--json", *flags).end["answer"]

    assert answer() == "file"
    monkeypatch.setenv("CLEW_MODEL", models["variable"])
    assert answer() == "variable"
    assert answer("--model", models["flag"]) == "flag"


def test_everything_of_a_user_lives_under_clew_home(clew, script, folder, monkeypatch):
    monkeypatch.setenv("CLEW_HOME", str(folder / "house"))
    model = script(ANSWER)
    before = set(folder.iterdir())
    clew("run", "do it", "--model", model)
    assert set(folder.iterdir()) - before == {folder / "house"}


def test_the_log_names_every_event_and_no_secret(clew, script, calls, folder, monkeypatch):
    monkeypatch.setenv("CLEW_LOG", "clew.log")
    monkeypatch.setenv("SOME_API_KEY", "top-secret-1")
    model = script(calls(("bash", {"command": "echo top-secret-1"})), ANSWER)
    clew("run", "do it", "--model", model, "--thread", "t1")
    lines = [json.loads(line) for line in (folder / "clew.log").read_text().splitlines()]
    assert [line["event"] for line in lines if line["logger"] == "clew"] == [
        "start",
        "think",
        "tool_start",
        "tool_end",
        "think",
        "end",
    ]
    assert "top-secret-1" not in (folder / "clew.log").read_text()


def shown(clew, thread):
    return json.loads(clew("show", thread, "--json").out)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", " "], "it is empty; say it in words"),
        (["plan", ""], "it is empty; say it in words"),
        (["say", "t1", ""], "it is empty; say it in words"),
        (["run", "do it", "--workspace", "note"], "note is no folder"),
        (["run", "do it", "--agent", "hubb"], "no agent 'hubb'; did you mean 'hub'?"),
        (["graph", "plann"], "no agent 'plann'; did you mean 'plan'?"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_there_is_a_thread(clew, folder, arguments, sentence):
    (folder / "note").write_text("a file")
    result = clew(*arguments)
    assert (result.code, sentence in result.err) == (2, True)
    assert not (folder / ".clew").exists()
