from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.state.errors import UsageError
from clew.state.notices import NoticeEvent
from clew.state.outcome import Status, Usage
from clew.state.plan import Plan, PlanStep, StepStatus
from clew.state.plan_data import PlanData, StepData, plan_data
from clew.state.question import QuestionKind
from clew.state.sandbox import Backend
from clew.state.stream import (
    DifferenceEvent,
    EndEvent,
    Event,
    NudgeEvent,
    PlanStepEvent,
    QuestionEvent,
    StartEvent,
    ThinkEvent,
    TokenEvent,
    ToolCallData,
    ToolEndEvent,
    ToolStartEvent,
    read_event,
    write_event,
)

KINDS = get_args(get_args(Event)[0])

TEXT = st.text(st.characters())  # lone surrogates too: a tool's output may not be UTF-8
PATH = st.lists(TEXT, max_size=3)
COUNT = st.integers(0, 10**9)
DATA = st.dictionaries(TEXT, st.recursive(st.none() | st.booleans() | COUNT | TEXT, st.lists, max_leaves=5), max_size=3)
USAGE = st.builds(
    Usage,
    llm_calls=COUNT,
    input_tokens=COUNT,
    cached_tokens=COUNT,
    output_tokens=COUNT,
    cost=st.floats(0, 1e6),
)
CALL = st.builds(ToolCallData, id=TEXT, name=TEXT, args=DATA)
STEP = st.builds(
    StepData,
    id=TEXT,
    text=TEXT,
    agent=st.none() | TEXT,
    depends_on=PATH,
    status=st.sampled_from(get_args(StepStatus)),
    attempts=COUNT,
    notes=TEXT,
    result=TEXT,
)
PLAN = st.builds(PlanData, id=TEXT, title=TEXT, steps=st.lists(STEP, max_size=3))
SANDBOX = st.builds(Backend, name=TEXT, contained=st.booleans(), description=TEXT, remedy=TEXT)
EVENTS = st.one_of(
    st.builds(PlanStepEvent, plan=TEXT, step=STEP),
    st.builds(StartEvent, thread=TEXT, run=TEXT, resumed=st.booleans(), sandbox=st.none() | SANDBOX),
    st.builds(ThinkEvent, path=PATH, step=COUNT, text=TEXT, tool_calls=st.lists(CALL, max_size=3), usage=USAGE),
    st.builds(ToolStartEvent, path=PATH, id=TEXT, name=TEXT, args=DATA),
    st.builds(ToolEndEvent, path=PATH, id=TEXT, name=TEXT, status=st.sampled_from(["success", "error"]), text=TEXT),
    st.builds(TokenEvent, path=PATH, text=TEXT),
    st.builds(
        QuestionEvent,
        id=TEXT,
        kind=st.sampled_from(get_args(QuestionKind)),
        question=TEXT,
        options=st.lists(TEXT, max_size=3),
        data=DATA,
        path=PATH,
    ),
    st.builds(DifferenceEvent, step=COUNT, id=TEXT, name=TEXT, field=TEXT, was=TEXT, now=st.none() | TEXT),
    st.builds(NudgeEvent, path=PATH, text=TEXT),
    st.builds(NoticeEvent, path=PATH, text=TEXT),
    st.builds(
        EndEvent,
        thread=TEXT,
        status=st.sampled_from(get_args(Status)),
        reason=TEXT,
        answer=TEXT,
        steps=COUNT,
        usage=USAGE,
        plan=st.none() | PLAN,
    ),
)

END = EndEvent(thread="t", status="finished", reason="answer", answer="42", steps=3, usage=Usage(llm_calls=3))


@given(EVENTS)
def test_an_event_survives_its_line_of_json(event):
    line = write_event(event)
    assert line.isascii()
    assert "\n" not in line
    assert read_event(line) == event


def test_every_event_has_a_name_of_its_own():
    names = [kind.model_fields["event"].default for kind in KINDS]
    assert len(set(names)) == len(names) == 14


def test_the_end_line_has_exactly_the_documented_keys():
    data = json.loads(write_event(END))
    assert list(data) == ["event", "thread", "status", "reason", "answer", "steps", "usage"]
    assert list(data["usage"]) == ["llm_calls", "input_tokens", "cached_tokens", "output_tokens", "cost"]


@pytest.mark.parametrize("line", ["", "{}", '{"event": "birthday"}', '{"event": "nudge"}'])
def test_another_line_is_refused(line):
    with pytest.raises(UsageError):
        read_event(line)


def test_the_end_line_of_a_plan_run_has_the_plan_last():
    plan = plan_data(Plan(id="p", title="Report", steps=[PlanStep(id="s1", text="collect")]))
    data = json.loads(write_event(END.model_copy(update={"plan": plan})))
    assert list(data)[-1] == "plan"
    assert list(data["plan"]) == ["id", "title", "steps"]
    assert list(data["plan"]["steps"][0]) == [
        "id",
        "text",
        "agent",
        "depends_on",
        "status",
        "attempts",
        "notes",
        "result",
    ]
