"""Flags of `clew resume`, matched to what is asked."""

from __future__ import annotations

import pytest

from clew.apps.decisions import Flags, decide
from clew.state.errors import UsageError
from clew.state.stream import QuestionEvent


def asks(identifier, *calls, kind="confirm"):
    data = {"calls": [{"id": call} for call in calls]} if calls else {}
    return QuestionEvent(id=identifier, kind=kind, question="May it?", data=data)


ONE = asks("q1aaaa", "call_1")
TWO = asks("q2bbbb", "call_2", "call_3")
PLAN = asks("q3cccc", kind="plan")
INPUT = asks("q4dddd", kind="input")


def test_without_flags_nothing_is_decided():
    assert decide(Flags(), [ONE, TWO]) == {}


def test_approving_is_for_every_call_and_plan_and_no_other_question():
    assert decide(Flags(approve=True), [ONE, TWO, PLAN, INPUT]) == {
        "q1aaaa": {"calls": {"call_1": "approve"}},
        "q2bbbb": {"calls": {"call_2": "approve", "call_3": "approve"}},
        "q3cccc": "approve",
    }
    assert decide(Flags(approve_kind=True), [ONE, PLAN]) == {
        "q1aaaa": {"calls": {"call_1": "approve_kind"}},
        "q3cccc": "approve",
    }


def test_a_call_is_named_by_its_id_and_the_rest_by_no_name():
    flags = Flags(approve=True, reject=["call_2=a=b"], edit=['call_3={"x": 1}'])
    assert decide(flags, [ONE, TWO]) == {
        "q1aaaa": {"calls": {"call_1": "approve"}},
        "q2bbbb": {"calls": {"call_2": {"reject": "a=b"}, "call_3": {"edit": {"x": 1}}}},
    }


def test_a_question_is_named_by_its_id_with_all_its_calls():
    assert decide(Flags(reject=["q2bb=no"]), [ONE, TWO]) == {
        "q2bbbb": {"calls": {"call_2": {"reject": "no"}, "call_3": {"reject": "no"}}}
    }
    assert decide(Flags(edit=['q3cccc={"steps": ["a"]}']), [ONE, PLAN]) == {"q3cccc": {"edit": {"steps": ["a"]}}}


def test_a_reason_with_an_equals_sign_is_no_name():
    assert decide(Flags(reject=["c=3 is wrong"]), [ONE]) == {
        "q1aaaa": {"calls": {"call_1": {"reject": "c=3 is wrong"}}}
    }


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        (Flags(edit=['{"x": 1}']), "say which one"),
        (Flags(edit=["x"]), "JSON object"),
        (Flags(edit=["[]"]), "JSON object"),
        (Flags(reject=["call=no"]), "whole id"),
        (Flags(reject=["call_1=no", "q1aaaa=no"]), "decided twice"),
    ],
)
def test_what_is_unclear_is_refused_with_the_fix(flags, names):
    with pytest.raises(UsageError, match=names):
        decide(flags, [ONE, TWO])


@pytest.mark.parametrize("questions", [[], [INPUT]])
def test_a_thread_that_asks_about_nothing_of_the_kind_is_refused(questions):
    with pytest.raises(UsageError, match="asks about no call"):
        decide(Flags(approve=True), questions)
