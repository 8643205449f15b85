"""When a run counts as a loop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from clew.nodes.loop import detect_loop


def step(command, result, status="success", text=""):
    detail = {"name": "bash", "args": {"command": command}, "id": f"{command}{result}", "type": "tool_call"}
    return [
        AIMessage(text, tool_calls=[detail]),
        ToolMessage(result, tool_call_id=detail["id"], status=status),
    ]


def run(*steps):
    return [HumanMessage("the task"), *[message for each in steps for message in each]]


def test_the_same_action_with_the_same_result_four_times_is_a_loop():
    assert detect_loop(run(*[step("ls", "a")] * 3)) is None
    loop = detect_loop(run(*[step("ls", "a")] * 4))
    assert (loop.kind, loop.repeats, loop.start) == ("repeated_action", 4, 1)


def test_the_same_action_that_fails_three_times_is_a_loop_whatever_the_errors_say():
    failing = [step("ls", f"no {n}", "error") for n in range(3)]
    assert detect_loop(run(*failing[:2])) is None
    assert detect_loop(run(*failing)).kind == "repeated_error"


def test_a_text_that_two_earlier_replies_equal_is_a_loop():
    replies = [
        AIMessage("I go on."),
        HumanMessage("yes"),
        AIMessage("I go on."),
        AIMessage("Else."),
        AIMessage("I go on."),
    ]
    assert detect_loop(replies[:-1]) is None
    loop = detect_loop(replies)
    assert (loop.kind, loop.repeats, loop.start) == ("repeated_text", 3, 0)


@pytest.mark.parametrize("threshold", [1, 3])
def test_the_duplicate_threshold_says_how_many_earlier_replies_it_takes(threshold):
    replies = [AIMessage("same")] * (threshold + 1)
    assert detect_loop(replies, duplicate_threshold=threshold).repeats == threshold + 1
    assert detect_loop(replies[1:], duplicate_threshold=threshold) is None


def test_two_steps_that_alternate_three_times_are_a_loop():
    pair = [step("a", "1"), step("b", "2")]
    assert detect_loop(run(*pair * 2, pair[0])) is None
    loop = detect_loop(run(*pair * 3))
    assert (loop.kind, loop.repeats, loop.start) == ("alternating", 3, 1)


def test_the_same_action_with_other_results_is_not_a_loop():
    assert detect_loop(run(*[step("tail log", f"line {n}") for n in range(8)])) is None


def test_the_same_words_around_other_actions_are_not_a_loop():
    assert detect_loop(run(*[step(f"cat {n}", "x", text="Next.") for n in range(8)])) is None


def test_what_came_before_the_newest_task_may_be_left_out():
    history = [*run(*[step("ls", "a")] * 3), *run(step("ls", "a"))]
    assert detect_loop(history).kind == "repeated_action"
    assert detect_loop(history, since_last_user=True) is None


@given(st.lists(st.integers(0, 2), max_size=30))
def test_a_run_whose_every_result_differs_is_never_a_loop(commands):
    assert detect_loop(run(*[step(str(c), f"result {n}") for n, c in enumerate(commands)])) is None
