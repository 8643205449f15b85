"""What a person answers, read as decisions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.tools import StructuredTool, tool

from clew.nodes.arguments import problem_of_arguments
from clew.nodes.decisions import Decision, UnclearAnswer, read_answer


@tool
def pay(amount: int, to: str = "shop") -> str:
    """Pay."""
    return f"{amount} {to}"


SCHEMA = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1}, "to": {"type": "string"}},
    "required": ["amount"],
    "additionalProperties": False,
}

foreign = StructuredTool.from_function(lambda **_: "", name="foreign", description="Of a server.", args_schema=SCHEMA)

TOOLS = {"pay": pay, "foreign": foreign}


def pending(identifier, name="pay", kind="pay (high risk)"):
    preview = {"language": "", "text": "", "arguments": []}
    return {"id": identifier, "name": name, "args": {"amount": 1}, "risk": "high", "kind": kind, "preview": preview}


CALLS = [pending("a"), pending("b"), pending("c", "foreign", "foreign (unknown risk)")]

words = st.sampled_from(["approve", "approve_kind", "reject", "edit", "calls", "a", "b", "z", "amount", ""])
answers = st.recursive(
    st.none() | st.booleans() | st.integers() | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
)


@given(answers)
def test_any_answer_either_decides_about_calls_that_are_asked_about_or_is_unclear(answer):
    try:
        decisions = read_answer(answer, CALLS, TOOLS)
    except UnclearAnswer:
        return
    assert decisions
    assert decisions.keys() <= {"a", "b", "c"}
    for name, decision in decisions.items():
        assert (decision.args is not None) == (decision.verdict == "edit")
        if decision.args is not None:
            assert problem_of_arguments(TOOLS["foreign" if name == "c" else "pay"], decision.args) == ""


@given(st.permutations(["a", "b", "c"]), st.lists(st.sampled_from(["approve", "reject"]), min_size=3, max_size=3))
def test_each_call_gets_the_decision_under_its_own_id(order, verdicts):
    wanted = dict(zip(order, verdicts, strict=True))
    decisions = read_answer({"calls": wanted}, CALLS, TOOLS)
    assert {name: decision.verdict for name, decision in decisions.items()} == wanted


def test_an_edit_without_an_id_is_for_the_only_call():
    assert read_answer({"edit": {"amount": 2}}, CALLS[:1], TOOLS) == {"a": Decision("edit", args={"amount": 2})}
    with pytest.raises(UnclearAnswer, match="which call is edited"):
        read_answer({"edit": {"amount": 2}}, CALLS, TOOLS)


def test_a_kind_is_approved_for_the_calls_of_that_kind_that_are_not_decided_otherwise():
    decisions = read_answer({"calls": {"a": "approve_kind"}}, CALLS, TOOLS)
    assert decisions == {"a": Decision("approve", kind="pay (high risk)"), "b": Decision("approve")}
    decisions = read_answer({"calls": {"a": "approve_kind", "b": "reject"}}, CALLS, TOOLS)
    assert decisions["b"].verdict == "reject"


@pytest.mark.parametrize("name", ["pay", "foreign"])
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"amount": 1}, ""),
        ({"amount": 1, "to": "baker"}, ""),
        ({}, "amount"),
        ({"amount": "much"}, "amount"),
        ({"amount": 1, "tip": 2}, "tip"),
        ({"amount": 1, "to": 3}, "to"),
    ],
)
def test_arguments_are_held_against_the_schema_of_the_tool(name, arguments, problem):
    found = problem_of_arguments(TOOLS[name], arguments)
    assert problem in found
    assert bool(found) == bool(problem)


def test_the_validators_of_a_tool_take_part():
    from pydantic import BaseModel, field_validator

    class Arguments(BaseModel):
        amount: int

        @field_validator("amount")
        @classmethod
        def not_too_much(cls, value: int) -> int:
            if value > 10:
                raise ValueError("too much")
            return value

    careful = StructuredTool.from_function(lambda amount: amount, name="c", description="d", args_schema=Arguments)
    assert problem_of_arguments(careful, {"amount": 9}) == ""
    assert "too much" in problem_of_arguments(careful, {"amount": 11})
