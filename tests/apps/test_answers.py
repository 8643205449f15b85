from __future__ import annotations

import pytest

from clew.apps.answers import match_answers, raise_limits, resume_value
from clew.state.errors import UsageError
from clew.state.stream import QuestionEvent

COLOUR = QuestionEvent(id="a1b2", kind="input", question="Which colour?")
SIZE = QuestionEvent(id="a9f0", kind="input", question="Which size?", options=["small", "large"])
LIMIT = QuestionEvent(id="c3d4", kind="limit", question="How many?", options=["40", "stop"], data={"max_steps": 20})


def test_a_text_answers_the_only_question():
    assert match_answers(["red"], [COLOUR]) == {"a1b2": "red"}


def test_a_text_with_an_equals_sign_is_a_text_where_it_names_no_question():
    assert match_answers(["x=1"], [COLOUR]) == {"a1b2": "x=1"}


def test_an_answer_names_its_question_by_the_beginning_of_the_id():
    assert match_answers(["a9=large", "a1b2=deep=red"], [COLOUR, SIZE]) == {"a9f0": "large", "a1b2": "deep=red"}


def test_some_of_the_questions_may_stay_open():
    assert match_answers(["a1b2=red"], [COLOUR, SIZE]) == {"a1b2": "red"}


@pytest.mark.parametrize("given", [["red"], ["a=red"], ["zz=red"]])
def test_an_answer_to_no_one_question_of_several_is_refused_and_told_how(given):
    with pytest.raises(UsageError, match=r"--answer a1b2=… for 'Which colour.*--answer a9f0="):
        match_answers(given, [COLOUR, SIZE])


def test_two_answers_to_one_question_are_refused():
    with pytest.raises(UsageError, match="twice"):
        match_answers(["red", "blue"], [COLOUR])


def test_an_answer_to_nothing_is_refused():
    with pytest.raises(UsageError, match="asks nothing"):
        match_answers(["red"], [])


def test_the_number_of_an_option_stands_for_the_option():
    assert [resume_value(SIZE, answer) for answer in ("2", "large", "3", "tiny")] == ["large", "large", "3", "tiny"]


def test_a_number_raises_a_limit_and_anything_else_is_passed_on():
    assert [resume_value(LIMIT, answer) for answer in (" 50 ", "0.5", "stop")] == [50, 0.5, "stop"]


def test_flags_answer_every_question_about_their_limit_and_no_other():
    tokens = LIMIT.model_copy(update={"id": "e5", "data": {"tokens": 9, "max_tokens": 9}})
    assert raise_limits([COLOUR, LIMIT, tokens], {"max_steps": 50}) == {"c3d4": {"max_steps": 50}}
    assert raise_limits([COLOUR, LIMIT], {}) == {}
