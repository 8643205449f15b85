"""Typed events: exact round trips as JSON, and from messages and back."""

import json
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from clew.state.errors import UsageError
from clew.state.events import (
    ACTIONS,
    OBSERVATIONS,
    AddTaskAction,
    AgentDelegateAction,
    AgentFinishAction,
    AgentRejectAction,
    BrowserOutputObservation,
    BrowseURLAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FileEditAction,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    FileWriteObservation,
    IPythonRunCellAction,
    MessageAction,
    ModifyTaskAction,
    SuccessObservation,
    ToolCallAction,
    action_from_dict,
    action_of_call,
    call_of_action,
    event_from_dict,
    history_events,
    observation_from_dict,
    observation_of,
    replies_of,
)
from clew.state.plan import Plan, PlanStep
from clew.state.plan_draft import create_plan
from clew.state.plan_edit import update_plan

TEXT = st.text(st.characters(), max_size=20)  # lone surrogates too: a tool's output may not be UTF-8
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)


def values(kind):
    """Values of a field's annotation."""
    if kind is typing.Any:
        return JSON
    if kind in (str, int, bool, float, type(None)):
        return {
            str: TEXT,
            int: st.integers(-1, 2**40),
            bool: st.booleans(),
            float: st.floats(allow_nan=False, allow_infinity=False),
            type(None): st.none(),
        }[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Literal:
        return st.sampled_from(arguments)
    if origin is list:
        return st.lists(values(arguments[0]), max_size=3)
    if origin is dict:
        return OBJECT
    return st.one_of(*map(values, arguments))


@st.composite
def built(draw, kinds):
    """An event of one of the kinds, with any of its fields given."""
    kind = draw(st.sampled_from(kinds))
    fields = {
        name: draw(values(field.annotation))
        for name, field in kind.model_fields.items()
        if field.is_required() or draw(st.booleans())
    }
    return kind(**fields)


@given(built(ACTIONS))
def test_an_action_survives_its_json(action):
    data = action.to_dict()
    again = action_from_dict(json.loads(json.dumps(data)))
    assert again == action
    assert type(again) is type(action)
    assert again.to_dict() == data == event_from_dict(data).to_dict()
    assert data["message"] == action.message


@given(built(OBSERVATIONS))
def test_an_observation_survives_its_json(observation):
    data = observation.to_dict()
    again = observation_from_dict(json.loads(json.dumps(data)))
    assert again == observation
    assert type(again) is type(observation)
    assert again.to_dict() == data == event_from_dict(data).to_dict()


TOOLS = [
    "bash",
    "python_execute",
    "str_replace_editor",
    "browser_use",
    "web_fetch",
    "planning",
    "terminate",
    "reject",
    "delegate",
    "ask_human",
    "other",
]
NAMES = st.sampled_from(
    [
        "command",
        "code",
        "stateful",
        "path",
        "view_range",
        "file_text",
        "action",
        "url",
        "start",
        "step_index",
        "step_status",
        "step_notes",
        "plan_id",
        "status",
        "answer",
        "reason",
        "agent",
        "task",
        "inputs",
        "inquire",
        "thought",
        "id",
        "source",
        "timeout",
        "outputs",
    ]
)
WORDS = st.sampled_from(["view", "create", "go_to_url", "mark_step", "success", "completed"])
ARGUMENTS = st.dictionaries(NAMES, JSON | WORDS, max_size=4)


@given(st.sampled_from(TOOLS), ARGUMENTS)
def test_whatever_a_model_calls_is_an_action_and_the_action_is_that_call(name, arguments):
    call = {"name": name, "args": arguments, "id": "c1", "type": "tool_call"}
    action = action_of_call(call)
    assert call_of_action(action) == {**call, "args": {**action.absent, **arguments}}
    assert call_of_action(action_from_dict(action.to_dict())) == call_of_action(action)


@pytest.mark.parametrize(
    ("name", "arguments", "action"),
    [
        ("bash", {"command": "ls", "timeout": 5}, CmdRunAction(command="ls", timeout=5, call_id="c")),
        ("python_execute", {"code": "1"}, IPythonRunCellAction(code="1", stateful=False, call_id="c")),
        ("python_execute", {"code": "1", "stateful": True}, IPythonRunCellAction(code="1", call_id="c")),
        ("str_replace_editor", {"command": "view", "path": "a"}, FileReadAction(path="a", call_id="c")),
        (
            "str_replace_editor",
            {"command": "create", "path": "a", "file_text": "x"},
            FileWriteAction(path="a", content="x", call_id="c"),
        ),
        (
            "str_replace_editor",
            {"command": "str_replace", "path": "a", "old_str": "x"},
            FileEditAction(command="str_replace", path="a", old_str="x", call_id="c"),
        ),
        ("browser_use", {"action": "go_to_url", "url": "u"}, BrowseURLAction(url="u", call_id="c")),
        ("web_fetch", {"url": "u"}, BrowseURLAction(url="u", browser=False, call_id="c")),
        (
            "planning",
            {"command": "mark_step", "step_index": 2, "step_status": "not_started"},
            ModifyTaskAction(task_id="2", state="open", call_id="c"),
        ),
        ("terminate", {"status": "failure"}, AgentFinishAction(status="failure", call_id="c")),
        ("reject", {"reason": "no"}, AgentRejectAction(reason="no", call_id="c")),
        ("delegate", {"agent": "a", "task": "t"}, AgentDelegateAction(agent="a", task="t", call_id="c")),
        ("ask_human", {"inquire": "?"}, MessageAction(content="?", wait_for_response=True, call_id="c")),
        ("stock", {"article": "lamp"}, ToolCallAction(name="stock", arguments={"article": "lamp"}, call_id="c")),
        ("bash", {"comand": "ls"}, ToolCallAction(name="bash", arguments={"comand": "ls"}, call_id="c")),
        ("bash", {"timeout": "5"}, ToolCallAction(name="bash", arguments={"timeout": "5"}, call_id="c")),
    ],
)
def test_a_call_is_the_action_of_its_kind(name, arguments, action):
    assert action_of_call({"name": name, "args": arguments, "id": "c"}) == action


def result(name, artifact=None, status="success", content="text"):
    return ToolMessage(content, tool_call_id="c", name=name, artifact=artifact, status=status)


@pytest.mark.parametrize(
    ("message", "observation"),
    [
        (
            result("bash", {"exit_code": 1, "running": False, "new": 2}),
            CmdOutputObservation(exit_code=1, details={"new": 2}),
        ),
        (result("python_execute", {"exit_code": 0, "files": ["a"]}), CmdOutputObservation(exit_code=0, files=["a"])),
        (
            result("str_replace_editor", {"command": "view", "path": "a", "changed": False}),
            FileReadObservation(path="a"),
        ),
        (
            result("str_replace_editor", {"command": "insert", "path": "a", "changed": True}),
            FileWriteObservation(path="a", command="insert"),
        ),
        (
            result("browser_use", {"action": "state", "url": "u", "notices": [], "state": {"a": 1}}),
            BrowserOutputObservation(browser_action="state", url="u", page_state={"a": 1}),
        ),
        (result("web_fetch", {"url": "u", "title": "t"}), BrowserOutputObservation(url="u", title="t")),
        (result("terminate", {"status": "success"}), SuccessObservation(details={"status": "success"})),
        (result("stock", [1, 2]), SuccessObservation(details={"artifact": [1, 2]})),
        (result("bash", {"exit_code": "none"}), SuccessObservation(details={"exit_code": "none"})),
        (result("bash", status="error"), ErrorObservation()),
    ],
)
def test_a_result_is_the_observation_of_its_kind(message, observation):
    expected = observation.model_copy(update={"call_id": "c", "tool": message.name, "content": "text"})
    assert observation_of(message) == expected


def call(name, identifier, **arguments):
    return {"name": name, "args": arguments, "id": identifier, "type": "tool_call"}


HISTORY = [
    HumanMessage("count the files", id="h"),
    AIMessage("I look.", tool_calls=[call("bash", "a", command="ls"), call("stock", "b", n=1)], id="r1"),
    ToolMessage("a b", tool_call_id="a", name="bash", artifact={"exit_code": 0}),
    ToolMessage("broken", tool_call_id="b", name="stock", status="error"),
    HumanMessage("you repeat yourself", additional_kwargs={"note": True}),
    AIMessage("Two files.", id="r2"),
]


def test_a_history_is_its_events_in_order_and_each_observation_names_its_cause():
    events = history_events(HISTORY)
    kinds = [type(event).__name__ for event in events]
    assert kinds == [
        "MessageAction",
        "CmdRunAction",
        "ToolCallAction",
        "CmdOutputObservation",
        "ErrorObservation",
        "MessageAction",
    ]
    assert [event.id for event in events] == list(range(6))
    assert [event.source for event in events] == ["user", "agent", "agent", "environment", "environment", "agent"]
    assert [events[3].cause, events[4].cause] == [1, 2]
    assert [events[1].thought, events[2].thought] == ["I look.", ""]


def test_what_a_person_says_in_passing_sets_no_task():
    (event,) = history_events([HumanMessage("be quick", additional_kwargs={"said": True})])
    assert (event.source, event.in_passing) == ("user", True)


def test_the_actions_of_a_history_are_the_replies_that_asked_for_them():
    actions = [event for event in history_events(HISTORY) if event.source == "agent"]
    replies = replies_of(actions)
    assert [(reply.text, reply.tool_calls) for reply in replies] == [
        ("I look.", HISTORY[1].tool_calls),
        ("Two files.", []),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (None, "no action: give an object"),
        ({"args": {}}, "no action: give an object"),
        ({"action": "ran"}, "no action 'ran'; did you mean 'run'?"),
        ({"action": "run", "command": "ls"}, "action 'run' has no key 'command': what is its own stands in `args`"),
        ({"action": "run", "args": {"comand": "ls"}}, "action 'run' is malformed, comand: Extra inputs"),
        ({"action": "run", "args": {"command": 7}}, "action 'run' is malformed, command: Input should be a valid str"),
        ({"action": "read", "args": {}}, "action 'read' is malformed, path: Field required"),
        ({"action": "run", "args": [1]}, "action 'run': `args` is no object"),
        ({"action": "run", "args": {"id": 3}}, "action 'run': `args` may not have 'id'"),
        ({"action": "run", "source": "moon"}, "action 'run' is malformed, source: Input should be 'agent', 'user'"),
    ],
)
def test_what_is_no_action_is_refused_with_the_fix(data, says):
    with pytest.raises(UsageError) as error:
        action_from_dict(data)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "data", [{}, {"observation": "rain"}, {"observation": "read"}, {"observation": "error", "extras": {"x": 1}}]
)
def test_what_is_no_observation_is_refused(data):
    with pytest.raises(UsageError):
        observation_from_dict(data)


def test_what_is_both_or_neither_is_no_event():
    for data in ({}, {"action": "run", "observation": "run"}, [], "run"):
        with pytest.raises(UsageError, match="no event"):
            event_from_dict(data)


def test_the_memory_of_an_event_is_cut_and_without_pictures():
    observation = CmdOutputObservation(content="x" * 500, exit_code=1, images=[{"type": "image"}])
    memory = observation.to_memory(100)
    assert memory["observation"] == "run"
    assert memory["extras"] == {"exit_code": 1}
    assert "400 characters left out" in memory["content"]
    assert len(FileWriteAction(path="a", content="y" * 500).to_memory(100)["args"]["content"]) < 150


PLAN = Plan(
    id="p",
    title="t",
    steps=[
        PlanStep(id="s1", text="read the code", status="completed"),
        PlanStep(id="s2", text="write the fix", agent="manus", depends_on=["s1"]),
        PlanStep(id="s3", text="publish it", depends_on=["s2"]),
    ],
)


def updated(action):
    arguments = action.planning_arguments(PLAN, "t")
    assert arguments.pop("command") == "update"
    return update_plan(PLAN, items=arguments["steps"])


def test_an_added_task_is_an_update_that_keeps_every_other_step():
    plan = updated(AddTaskAction(goal="tell the users"))
    assert plan.steps[:3] == PLAN.steps
    assert (plan.steps[3].text, plan.steps[3].depends_on) == ("tell the users", ["s3"])


def test_a_task_below_a_parent_comes_before_it_with_its_own_subtasks():
    plan = updated(AddTaskAction(goal="test the fix", parent="s3", subtasks=["write a test"]))
    assert [step.text for step in plan.steps] == [
        "read the code",
        "write the fix",
        "write a test",
        "test the fix",
        "publish it",
    ]
    assert plan.step("s3").depends_on == ["s2", plan.steps[3].id]
    assert (plan.step("s2").agent, plan.step("s1").status) == ("manus", "completed")


def test_the_first_task_makes_the_plan():
    arguments = AddTaskAction(goal="b", subtasks=["a"]).planning_arguments(None, "do it")
    assert arguments == {"command": "create", "title": "do it", "steps": ["a", "b"]}
    assert len(create_plan("p", arguments["title"], arguments["steps"]).steps) == 2


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        (ModifyTaskAction(task_id="s2", state="in_progress"), {"step_index": 1, "step_status": "in_progress"}),
        (ModifyTaskAction(task_id="1", note="n"), {"step_index": 1, "step_notes": "n"}),
        (
            ModifyTaskAction(task_id="s3", state="verified"),
            {"step_index": 2, "step_status": "completed", "step_notes": "verified"},
        ),
        (
            ModifyTaskAction(task_id="s3", state="abandoned", note="no time"),
            {"step_index": 2, "step_status": "blocked", "step_notes": "abandoned: no time"},
        ),
    ],
)
def test_a_modified_task_is_a_marked_step(action, arguments):
    assert action.planning_arguments(PLAN) == {"command": "mark_step", **arguments}


def test_a_task_that_there_is_not_is_refused():
    for action in (
        lambda: ModifyTaskAction(task_id="s9").planning_arguments(PLAN),
        lambda: AddTaskAction(goal="x", parent="9").planning_arguments(PLAN, "t"),
    ):
        with pytest.raises(UsageError, match=r"has no task 's?9'"):
            action()
    with pytest.raises(UsageError, match="add one first"):
        ModifyTaskAction(task_id="0").planning_arguments(None)
