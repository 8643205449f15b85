"""What docs/people.md says of questions and answers, held against the code."""

from __future__ import annotations

import json
import re

import pytest
from source_tree import ROOT

from clew.nodes.decisions import OPTIONS, read_answer
from clew.state.confirmation import PendingCall, Preview
from clew.state.question import Question
from clew.tools.catalog import build_tools

PAGE = (ROOT / "docs" / "people.md").read_text(encoding="utf-8")

QUESTION, DECISIONS, BY_CALL = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_question_has_the_documented_form():
    question = json.loads(QUESTION)
    (call,) = question["data"]["calls"]
    assert question.keys() == Question.__annotations__.keys()
    assert call.keys() == PendingCall.__annotations__.keys()
    assert call["preview"].keys() == Preview.__annotations__.keys()
    assert question["options"] == OPTIONS


@pytest.mark.parametrize("line", [*DECISIONS.splitlines(), *BY_CALL.splitlines()])
def test_every_documented_answer_is_taken(line):
    tools = {tool.name: tool for tool in build_tools(["bash"])}
    decisions = read_answer(json.loads(line), json.loads(QUESTION)["data"]["calls"], tools)
    assert list(decisions) == ["call_1"]


def test_every_option_is_explained():
    assert set(re.findall(r"^- \*\*(\w+)\*\*", PAGE, re.MULTILINE)) == set(OPTIONS)
