import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests
from langgraph.graph import END, START, StateGraph
from langgraph.store.memory import InMemoryStore
from pydantic import ValidationError
from typing_extensions import TypedDict

from clew.checkpoints.plans import PlanLibrary
from clew.state.errors import PlanError, UsageError
from clew.state.plan_draft import create_plan
from clew.state.plan_fold import fold_plan
from clew.tools.planning import Planning, new_plan_id, plan_from_arguments, read_arguments
from clew.tools.plans import LibraryPlans, LivePlan, LivePlans, planned_operations
from clew.tools.traits import Traits, traits_of

SEED = ["Search for recent AI trends", "Extract key findings", "Write summary document"]
CREATE = {"command": "create", "plan_id": "plan_001", "title": "Research and summarize AI trends", "steps": SEED}


def library_tool(library=None, **fields):
    return Planning(plans=LibraryPlans(library or PlanLibrary(InMemoryStore())), **fields)


class PlanningUnderTest:
    @property
    def tool_constructor(self):
        return Planning

    @property
    def tool_constructor_params(self):
        return {"plans": LibraryPlans(PlanLibrary(InMemoryStore()))}

    @property
    def tool_invoke_params_example(self):
        return CREATE


class TestStandardUnit(PlanningUnderTest, ToolsUnitTests):
    pass


class TestStandardIntegration(PlanningUnderTest, ToolsIntegrationTests):
    pass


@pytest.fixture
def library():
    return PlanLibrary(InMemoryStore())


@pytest.fixture
def tool(library):
    return library_tool(library)


async def call(tool, command, **arguments) -> ToolMessage:
    arguments = {"command": command} | arguments
    return await tool.ainvoke({"type": "tool_call", "name": "planning", "id": "call_1", "args": arguments})


async def test_the_seven_commands_of_the_seed_from_create_to_delete(tool):
    created = await tool.ainvoke(CREATE)
    assert created.startswith("Plan created with ID: plan_001\n\nPlan: Research and summarize AI trends (ID: plan_001)")
    assert "0/3 steps completed (0.0%)" in created
    marked = await tool.ainvoke(
        {"command": "mark_step", "step_index": 0, "step_status": "completed", "step_notes": "12 sources"}
    )
    assert "0. [✓] Search for recent AI trends (id s1)\n   Notes: 12 sources" in marked
    assert "1/3 steps completed (33.3%)" in marked
    updated = await tool.ainvoke({"command": "update", "plan_id": "plan_001", "steps": ["Agree on the scope", *SEED]})
    assert "1. [✓] Search for recent AI trends (id s1; after 0)" in updated
    await tool.ainvoke({"command": "create", "plan_id": "plan_002", "title": "Second", "steps": ["One"]})
    listed = await tool.ainvoke({"command": "list"})
    assert "• plan_002 (active): Second - 0/1 steps completed (0.0%)" in listed
    assert "• plan_001: Research and summarize AI trends - 1/4 steps completed (25.0%)" in listed
    assert "Plan 'plan_001' is the active plan." in await tool.ainvoke({"command": "set_active", "plan_id": "plan_001"})
    assert "(ID: plan_001)" in await tool.ainvoke({"command": "get"})
    assert "deleted" in await tool.ainvoke({"command": "delete", "plan_id": "plan_001"})
    with pytest.raises(PlanError, match="no active plan"):
        await tool.ainvoke({"command": "get"})


@pytest.mark.parametrize(("status", "mark"), [("not_started", "[ ]"), ("in_progress", "[→]"), ("blocked", "[!]")])
async def test_every_status_has_the_mark_of_the_seed(tool, status, mark):
    await tool.ainvoke(CREATE)
    shown = await tool.ainvoke({"command": "mark_step", "step_index": 2, "step_status": status})
    assert f"2. {mark} Write summary document" in shown


async def test_step_note_is_taken_as_well_as_step_notes(tool):
    await tool.ainvoke(CREATE)
    for spelling in ("step_note", "step_notes"):
        shown = await tool.ainvoke({"command": "mark_step", "step_index": 0, spelling: f"by {spelling}"})
        assert f"Notes: by {spelling}" in shown


async def test_a_plan_without_an_id_gets_one_of_its_own(tool):
    first, second = [await call(tool, "create", title="T", steps=["a"]) for _ in range(2)]
    assert first.artifact["plan_id"] != second.artifact["plan_id"]
    assert new_plan_id().startswith("plan_")


async def test_creating_an_unchanged_plan_again_does_nothing_and_another_of_its_id_is_refused(tool):
    assert await tool.ainvoke(CREATE) == await tool.ainvoke(CREATE)
    with pytest.raises(PlanError, match="'plan_001' exists"):
        await tool.ainvoke(CREATE | {"steps": ["Something else"]})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"command": "create", "steps": SEED}, "needs a title"),
        ({"command": "create", "title": "T"}, "at least one step"),
        ({"command": "create", "title": "T", "steps": []}, "at least one step"),
        ({"command": "create", "title": "T", "steps": [{"text": "a", "depends_on": [1]}, "b"]}, "not before it"),
        ({"command": "create", "title": "T", "steps": ["[SWE] a", {"text": "b", "agent": "poet"}]}, "agents are swe"),
        ({"command": "update", "plan_id": "plan_001"}, "a title, or steps, or both"),
        ({"command": "update", "plan_id": "nothing", "title": "T"}, "no plan 'nothing'"),
        ({"command": "get", "plan_id": "nothing"}, "no plan 'nothing'"),
        ({"command": "set_active"}, "`set_active` needs plan_id"),
        ({"command": "set_active", "plan_id": "nothing"}, "no plan 'nothing'"),
        ({"command": "delete"}, "`delete` needs plan_id"),
        ({"command": "delete", "plan_id": "nothing"}, "no plan 'nothing'"),
        ({"command": "mark_step", "step_status": "completed"}, "needs step_index"),
        ({"command": "mark_step", "step_index": 0}, "needs step_status, or step_notes"),
        ({"command": "mark_step", "step_index": 3, "step_status": "completed"}, "out of range.*0 to 2"),
        ({"command": "mark_step", "step_index": -1, "step_status": "completed"}, "out of range"),
    ],
)
async def test_a_command_that_would_break_a_plan_is_refused_with_a_sentence_and_changes_nothing(
    library, arguments, message
):
    tool = library_tool(library, agents=["swe"])
    await tool.ainvoke(CREATE)
    before = [entry.plan for entry in await library.list()]
    with pytest.raises(PlanError, match=message):
        await tool.ainvoke(arguments)
    assert [entry.plan for entry in await library.list()] == before


@pytest.mark.parametrize(
    "arguments",
    [{"command": "destroy"}, {"command": "mark_step", "step_status": "done"}, {"command": "list", "colour": "red"}],
)
async def test_arguments_outside_the_schema_are_refused_before_anything_runs(tool, arguments):
    with pytest.raises(ValidationError):
        await tool.ainvoke(arguments)
    with pytest.raises(PlanError, match="arguments of `planning` are malformed"):
        read_arguments(arguments)


def test_the_schema_names_the_parameters_of_the_seed_and_describes_each():
    parameters = convert_to_openai_tool(Planning())["function"]["parameters"]
    seed = ["command", "plan_id", "title", "steps", "step_index", "step_status", "step_notes"]
    assert list(parameters["properties"]) == seed
    assert parameters["required"] == ["command"]
    assert all(field["description"] for field in parameters["properties"].values())
    assert json.dumps(parameters)


def test_its_traits_say_that_it_runs_alone_and_whether_a_second_run_does_harm():
    async def read():
        return LivePlan(None)

    assert traits_of(library_tool()) == Traits(parallel=False, idempotent=False, risk="low")
    assert traits_of(Planning(plans=LivePlans(read))) == Traits(parallel=False, idempotent=True, risk="low")


async def test_a_plan_that_a_thread_owns_is_shown_and_not_changed_behind_its_back(library, tool):
    await library.put(create_plan("plan_001", "T", SEED), thread="thread_7", checkpoint="c1")
    await tool.ainvoke({"command": "set_active", "plan_id": "plan_001"})
    assert "0/3" in await tool.ainvoke({"command": "get"})
    with pytest.raises(PlanError, match="belongs to the thread thread_7"):
        await tool.ainvoke({"command": "mark_step", "step_index": 0, "step_status": "completed"})


class Thread:
    """A thread's plan as a graph keeps it: it folds in what the artifacts ask for."""

    def __init__(self, plan=None, step="", library=None, agents=None):
        self.plan, self.step, self.messages = plan, step, []
        self.tool = Planning(plans=LivePlans(self.read, library=library), agents=agents)

    async def read(self):
        return LivePlan(fold_plan(self.plan, planned_operations(self.messages)), self.step)

    async def __call__(self, command, **arguments):
        self.messages.append(await call(self.tool, command, **arguments))
        return self.messages[-1].content

    def record(self):
        self.plan, self.messages = fold_plan(self.plan, json_round_trip(self.messages)), []
        return self.plan


def json_round_trip(messages):
    return planned_operations(
        [message.model_copy(update={"artifact": json.loads(json.dumps(message.artifact))}) for message in messages]
    )


async def test_in_a_step_the_tool_changes_nothing_and_asks_the_graph_for_it():
    thread = Thread(create_plan("plan_001", "T", SEED), step="s1")
    shown = await thread("mark_step", step_index=1, step_notes="see the appendix")
    assert "Notes: see the appendix" in shown
    assert thread.plan.step("s2").notes == ""
    assert thread.messages[0].artifact["plan_id"] == "plan_001"
    assert thread.record().step("s2").notes == "see the appendix"


async def test_in_a_step_later_calls_see_what_earlier_ones_asked_for():
    thread = Thread(create_plan("plan_001", "T", SEED), step="s1")
    await thread("update", steps=[*SEED, "Publish"])
    shown = await thread("mark_step", step_index=3, step_status="blocked", step_notes="no access")
    assert "3. [!] Publish (id s1.1; after 2)\n   Notes: no access" in shown
    assert await thread("get") in shown
    assert thread.record().step("s1.1").status == "blocked"


async def test_steps_that_run_at_once_lose_nothing_of_each_others_changes():
    plan = create_plan("plan_001", "T", ["a", {"text": "b", "depends_on": []}, "c"])
    left, right = Thread(plan, step="s1"), Thread(plan, step="s2")
    await left("update", steps=["a", {"text": "b", "depends_on": []}, "check a", "c"])
    await left("mark_step", step_index=1, step_notes="from the left")
    await right("update", steps=["a", {"text": "b", "depends_on": []}, "check b", "c"], title="Both")
    await right("mark_step", step_index=0, step_notes="from the right")
    folded = fold_plan(plan, planned_operations([*left.messages, *right.messages]))
    assert folded == fold_plan(plan, planned_operations([*right.messages, *left.messages]))
    assert {step.text for step in folded.steps} == {"a", "b", "c", "check a", "check b"}
    assert (folded.step("s1").notes, folded.step("s2").notes) == ("from the right", "from the left")
    assert folded.title == "Both"


@pytest.mark.parametrize(
    ("command", "arguments"),
    [("create", {"title": "T", "steps": ["x"]}), ("set_active", {"plan_id": "p"}), ("delete", {"plan_id": "p"})],
)
async def test_the_agent_of_one_step_may_not_change_which_plan_runs(command, arguments):
    thread = Thread(create_plan("p", "T", SEED), step="s1")
    with pytest.raises(PlanError, match="not for the agent of one step"):
        await thread(command, **arguments)


async def test_a_planning_agent_creates_changes_and_leaves_plans_of_its_thread(library):
    await library.put(create_plan("older", "Older", ["x"]), thread="thread_1")
    thread = Thread(library=library)
    with pytest.raises(PlanError, match="no active plan"):
        await thread("get")
    with pytest.raises(PlanError, match="'older' exists"):
        await thread("create", plan_id="older", title="T", steps=SEED)
    await thread("create", plan_id="plan_001", title="T", steps=SEED)
    await thread("mark_step", step_index=0, step_status="in_progress")
    assert thread.record().step("s1").status == "in_progress"
    assert (await thread("list")).splitlines()[1:] == [
        "• plan_001 (active): T - 0/3 steps completed (0.0%)",
        "• older: Older - 0/1 steps completed (0.0%)",
    ]
    assert "(ID: older)" in await thread("get", plan_id="older")
    with pytest.raises(PlanError, match="not the active one: use `set_active`"):
        await thread("mark_step", plan_id="older", step_index=0, step_status="completed")
    await thread("set_active", plan_id="older")
    assert thread.record().id == "older"
    await thread("delete", plan_id="older")
    assert thread.record() is None
    assert await library.list() == []


async def test_in_a_graph_with_a_store_the_bare_tool_keeps_plans_there_with_the_thread_as_scope():
    class State(TypedDict):
        arguments: dict[str, Any]
        reply: str

    async def plan(state: State) -> dict[str, str]:
        return {"reply": await Planning().ainvoke(state["arguments"])}

    builder = StateGraph(State).add_node(plan)
    builder.add_edge(START, "plan").add_edge("plan", END)
    graph = builder.compile(store=InMemoryStore())

    async def run(thread, **arguments):
        config = {"configurable": {"thread_id": thread}}
        return (await graph.ainvoke({"arguments": arguments, "reply": ""}, config))["reply"]

    await run("t1", **CREATE)
    assert "• plan_001 (active)" in await run("t1", command="list")
    assert "• plan_001:" in await run("t2", command="list")
    with pytest.raises(PlanError, match="no active plan"):
        await run("t2", command="get")


async def test_without_a_store_the_bare_tool_says_what_is_missing():
    with pytest.raises(UsageError, match="compile the graph with a store"):
        await Planning().ainvoke(CREATE)


def test_a_graph_reads_a_plan_from_a_models_call_under_its_own_id():
    arguments = {"command": "create", "plan_id": "ignored", "steps": ["[Data_Analysis] Plot", "Report"]}
    plan = plan_from_arguments(arguments, plan_id="plan_9", title="The task", agents=["manus", "data_analysis"])
    assert (plan.id, plan.title, plan.steps[0].agent) == ("plan_9", "The task", "data_analysis")
    with pytest.raises(PlanError, match="malformed, steps"):
        plan_from_arguments({"command": "create", "steps": "not a list"}, plan_id="p", title="t")


def test_other_messages_ask_for_nothing():
    foreign = ToolMessage("ok", tool_call_id="1", name="bash", artifact={"operations": [{"op": "explode"}]})
    assert planned_operations([AIMessage("hello"), foreign]) == []
