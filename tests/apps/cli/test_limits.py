"""Limits of a run from the command line: met with nobody there, met with somebody to ask, raised, and wrong ones."""

import json

import pytest

LOW = {"--max-steps": "2", "--max-calls": "2", "--max-tokens": "150", "--budget": "0.3", "--timeout": "0.000001"}
REASONS = dict(zip(LOW, ("max_steps", "max_calls", "max_tokens", "max_cost", "max_seconds"), strict=True))


@pytest.fixture
def model(script, calls, folder):
    """A model that looks three times and answers; a call takes 100 tokens and costs 0.2."""
    (folder / "clew.toml").write_text('[prices."script.json"]\noutput = 10000.0\n')
    looks = [{**calls(("str_replace_editor", {"command": "view", "path": "."})), "usage": USAGE} for _ in range(3)]
    return script(*looks, {"content": "Seen.", "usage": USAGE})


USAGE = {"input_tokens": 80, "output_tokens": 20}


@pytest.mark.parametrize("flag", LOW)
def test_a_headless_run_ends_with_code_4_names_its_limit_and_goes_on_with_a_higher_one(clew, model, flag):
    begun = ("run", "look", "--model", model, "--thread", "t1", "--json", "--headless")
    ended = clew(*begun, flag, LOW[flag])
    assert (ended.code, ended.end["status"], ended.end["reason"]) == (4, "limit", REASONS[flag])
    assert f"clew resume t1 {flag} N" in ended.err
    refused = clew("resume", "t1", "--json")
    assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    assert f"{flag} N" in refused.err
    again = clew("resume", "t1", flag, "5000", "--json")
    assert (again.code, again.end["answer"], again.end["steps"]) == (0, "Seen.", 4)
    assert again.end["usage"]["llm_calls"] == 4


@pytest.mark.parametrize("flag", LOW)
def test_a_run_with_somebody_to_ask_waits_with_code_3_and_goes_on_with_a_higher_limit(clew, model, flag):
    waiting = clew("run", "look", "--model", model, "--thread", "t1", "--json", flag, LOW[flag])
    assert (waiting.code, waiting.end["status"], waiting.end["reason"]) == (3, "waiting", "limit")
    assert f"clew resume t1 {flag} N" in waiting.err
    again = clew("resume", "t1", flag, "5000", "--json")
    assert (again.code, again.end["answer"]) == (0, "Seen.")


def test_a_flag_for_another_limit_answers_nothing(clew, model):
    clew("run", "look", "--model", model, "--thread", "t1", "--json", "--max-tokens", "150")
    again = clew("resume", "t1", "--max-steps", "50", "--json")
    assert (again.code, again.end["reason"]) == (3, "limit")
    assert clew("resume", "t1", "--answer", "stop", "--json").end["reason"] == "max_tokens"


def test_limits_come_from_the_settings_too_and_flags_go_over_them(clew, model, folder):
    with (folder / "clew.toml").open("a") as file:
        file.write("\n[limits]\nmax_calls = 2\n")
    ended = clew("run", "look", "--model", model, "--thread", "t1", "--json", "--headless")
    assert (ended.code, ended.end["reason"]) == (4, "max_calls")
    assert clew("run", "look", "--model", model, "--json", "--headless", "--max-calls", "9").code == 0


def test_the_thread_remembers_its_limits_and_shows_what_it_used(clew, model):
    clew(
        "run", "look", "--model", model, "--thread", "t1", "--json", "--headless", "--budget", "0.5", "--timeout", "60"
    )
    data = json.loads(clew("show", "t1", "--json").out)
    assert data["limits"] == {"cost": 0.5, "seconds": 60.0}
    assert 0 < data["seconds"] < 60
    assert "limits     0.5 cost, 60 seconds" in clew("show", "t1").out


@pytest.mark.parametrize(
    ("flag", "value"), [("--max-steps", "0"), ("--max-tokens", "1.5"), ("--budget", "-1"), ("--timeout", "soon")]
)
def test_a_limit_that_is_no_limit_is_a_usage_error(clew, model, flag, value):
    refused = clew("run", "look", "--model", model, flag, value)
    assert (refused.code, refused.out) == (2, "")
    assert flag in refused.err
    assert value in refused.err


def test_a_plan_asks_at_the_limit_of_its_run_can_be_stopped_there_and_goes_on_with_a_higher_one(clew, calls, folder):
    steps = [{"text": "look"}, {"text": "tell"}]
    planned = calls(("planning", {"command": "create", "title": "t", "steps": steps}))
    done = calls(("terminate", {"status": "success", "answer": "done"}))
    scripts = [
        {"name": "agent", "match": "^You carry out one step", "replies": [done]},
        {"name": "planner", "replies": [planned, "All is done."]},
    ]
    model = f"script:{folder / 'plan.json'}"
    (folder / "plan.json").write_text(json.dumps({"scripts": scripts}))
    waiting = clew("plan", "look and tell", "--model", model, "--thread", "p", "--json", "--max-steps", "1")
    assert (waiting.code, waiting.end["reason"]) == (3, "limit"), waiting.out
    stopping = clew("stop", "p", "--debug")
    assert stopping.out == "thread p is stopped\n", stopping.err
    stopped = json.loads(clew("show", "p", "--json").out)
    assert (stopped["status"], stopped["reason"], stopped["questions"]) == ("cancelled", "stopped", [])
    assert [step["status"] for step in stopped["plan"]["steps"]] == ["completed", "not_started"]
    again = clew("resume", "p", "--max-steps", "5", "--json")
    assert (again.code, again.end["status"], again.end["steps"]) == (0, "finished", 2)
