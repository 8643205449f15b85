"""Agents that are functions of the hub's interface: `step(state) -> action`."""

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, agent_from_step
from clew.state.errors import ModelError, UsageError
from clew.state.events import (
    AddTaskAction,
    AgentDelegateAction,
    AgentDelegateObservation,
    AgentFinishAction,
    AgentRejectAction,
    CmdOutputObservation,
    CmdRunAction,
    ErrorObservation,
    FileReadAction,
    FileReadObservation,
    FileWriteAction,
    FileWriteObservation,
    IPythonRunCellAction,
    MessageAction,
    ModifyTaskAction,
    SuccessObservation,
    ToolCallAction,
    history_events,
)
from clew.state.settings import Settings
from clew.state.step_state import hub_state

TASK = {"messages": [("user", "mend it")]}
THREAD = {"configurable": {"thread_id": "t"}}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def agent(tmp_path):
    """An agent whose function gives these actions one after the other, and keeps the states it was given."""

    def make(*actions, seen=None, **options):
        states = [] if seen is None else seen

        def step(state):
            states.append(state)
            action = actions[state.local_iteration]
            return action(state) if callable(action) else action

        settings = Settings(home=tmp_path, confirm="never")
        return agent_from_step(step, settings=settings, workspace=tmp_path / "work", **options)

    return make


async def test_each_action_is_carried_out_by_our_tools_and_its_observation_comes_back(agent):
    seen = []
    graph = agent(
        FileWriteAction(path="a.txt", content="one\n", thought="I write."),
        FileReadAction(path="a.txt"),
        CmdRunAction(command="cat a.txt; exit 3"),
        IPythonRunCellAction(code="x = 20"),
        IPythonRunCellAction(code="x + 1"),
        FileReadAction(path="b.txt"),
        ToolCallAction(name="nothing"),
        AgentFinishAction(final_thought="Mended.", outputs={"lines": 1}),
        seen=seen,
    )
    state = await graph.ainvoke(TASK)
    assert (state["status"], state["outcome"].answer, state["outcome"].outputs) == ("finished", "Mended.", {"lines": 1})
    came = [state.newest_observation() for state in seen[1:]]
    assert [type(observation) for observation in came] == [
        FileWriteObservation,
        FileReadObservation,
        CmdOutputObservation,
        CmdOutputObservation,
        CmdOutputObservation,
        ErrorObservation,
        ErrorObservation,
    ]
    assert "one" in came[1].content
    assert "21" in came[4].content
    assert "There is no file b.txt" in seen[6].last_error
    assert "there is no tool `nothing`" in seen[7].last_error


async def test_the_state_has_the_names_of_the_hub(agent):
    seen = []
    graph = agent(CmdRunAction(command="true"), AgentFinishAction(), seen=seen)
    values = await graph.ainvoke(TASK)
    first, second = seen
    assert (first.root_task, first.task, first.agent_state) == ("mend it", "mend it", "running")
    assert (first.iteration, first.local_iteration, first.delegate_level, first.max_iterations) == (0, 0, 0, 100)
    assert (first.start_id, first.end_id, second.end_id) == (0, 0, 2)
    assert (second.iteration, second.local_iteration) == (1, 1)
    assert (second.almost_stuck, second.confirmation_mode, second.last_error) == (False, False, "")
    assert second.traffic_control_state == "normal"
    assert [event.message for event in second.history[:2]] == ["mend it", "Running command: true"]
    ended = hub_state(values)
    assert (ended.agent_state, ended.local_iteration, ended.metrics.tool_calls) == ("finished", 2, 2)
    assert hub_state({}).agent_state == "loading"
    assert hub_state(values, status="waiting", waits_for="limit").traffic_control_state == "throttling"
    assert hub_state(values, status="waiting", waits_for="confirm").agent_state == "awaiting_user_confirmation"


async def test_a_coroutine_function_is_awaited_and_words_do_not_end_the_task(tmp_path):
    async def step(state):
        if state.local_iteration < 2:
            return MessageAction(content=f"I think about it, {state.local_iteration}.")
        return AgentFinishAction(final_thought="Done.")

    state = await agent_from_step(step, settings=Settings(home=tmp_path)).ainvoke(TASK)
    assert [event.message for event in history_events(state["messages"])][1:3] == [
        "I think about it, 0.",
        "I think about it, 1.",
    ]
    assert state["progress"]["steps"] == 3


async def test_subtasks_are_added_and_changed_in_the_plan_of_the_thread(agent):
    seen = []
    graph = agent(
        AddTaskAction(goal="write the fix", subtasks=["read the code"]),
        AddTaskAction(goal="tell the users"),
        ModifyTaskAction(task_id="s1", state="in_progress"),
        ModifyTaskAction(task_id="0", state="verified"),
        ModifyTaskAction(task_id="s9", state="open"),
        AgentFinishAction(),
        seen=seen,
    )
    state = await graph.ainvoke(TASK)
    assert [step.text for step in seen[2].subtasks] == ["read the code", "write the fix", "tell the users"]
    assert seen[3].subtasks[0].status == "in_progress"
    assert (seen[4].subtasks[0].status, seen[4].subtasks[0].notes) == ("completed", "verified")
    assert "has no task 's9'" in seen[5].newest_observation().content
    assert state["plan"].title == "mend it"
    made = [event for event in history_events(state["messages"]) if event.source == "agent"]
    assert [type(action) for action in made[:3]] == [AddTaskAction, AddTaskAction, ModifyTaskAction]
    assert made[0].subtasks == ["read the code"]
    assert made[3].state == "verified"


async def test_rejecting_ends_the_task_with_the_reason(agent):
    state = await agent(AgentRejectAction(reason="there is nothing to mend")).ainvoke(TASK)
    assert (state["status"], state["outcome"].reason) == ("rejected", "there is nothing to mend")


async def test_a_question_waits_for_the_person_and_the_run_goes_on_in_another_process(agent, tmp_path):
    question = MessageAction(content="Which colour?", wait_for_response=True)
    actions = [question, AgentFinishAction(final_thought="Painted.")]
    async with open_saver(str(tmp_path / "t.db")) as saver:
        state = await agent(*actions, checkpointer=saver).ainvoke(TASK, THREAD)
        assert state["__interrupt__"][0].value["question"] == "Which colour?"
    async with open_saver(str(tmp_path / "t.db")) as saver:
        seen = []
        state = await agent(*actions, checkpointer=saver, seen=seen).ainvoke(Command(resume="red"), THREAD)
        assert (seen[0].newest_observation().content, state["status"]) == ("red", "finished")


async def test_limits_are_asked_about_and_confirmation_holds(agent):
    graph = agent(
        *[ToolCallAction(name="add", arguments={"a": n, "b": 1}) for n in range(2)],
        AgentFinishAction(),
        tools=[add],
        spec=AgentSpec(name="adder", tools=("add",), max_steps=2),
        checkpointer=InMemorySaver(),
    )
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(confirm="always"))
    assert state["__interrupt__"][0].value["kind"] == "confirm"
    state = await graph.ainvoke(TASK, {"configurable": {"thread_id": "other"}})
    assert state["__interrupt__"][0].value["kind"] == "limit"


async def test_what_the_function_keeps_survives_a_resume_and_must_be_json(agent, tmp_path):
    def count(state):
        state.extra_data["count"] = state.extra_data.get("count", 0) + 1
        return MessageAction(content=f"{state.local_iteration}?", wait_for_response=True)

    async with open_saver(str(tmp_path / "t.db")) as saver:
        await agent(count, checkpointer=saver).ainvoke(TASK, THREAD)
    async with open_saver(str(tmp_path / "t.db")) as saver:
        graph = agent(count, count, checkpointer=saver)
        state = await graph.ainvoke(Command(resume="yes"), THREAD)
        assert state["extra_data"] == {"count": 2}

    def spoil(state):
        state.extra_data["file"] = object()
        return AgentFinishAction()

    with pytest.raises(UsageError, match="plain JSON"):
        await agent(spoil).ainvoke(TASK)


async def test_a_loop_is_told_to_the_function_and_then_ends_the_task(agent):
    seen = []
    state = await agent(*[CmdRunAction(command="true")] * 20, seen=seen).ainvoke(TASK)
    assert [state.almost_stuck for state in seen].index(True) == 4
    assert (state["status"], state["outcome"].reason) == ("stuck", "repeated_action")


async def test_what_is_no_action_and_a_failed_model_are_told_plainly(agent):
    with pytest.raises(UsageError, match="step\\(\\) gave 'ls', which is no action"):
        await agent("ls").ainvoke(TASK)

    def fail(state):
        raise ModelError("the provider is gone")

    state = await agent(fail).ainvoke(TASK)
    assert (state["status"], state["outcome"].reason) == ("error", "the provider is gone")


async def test_the_seeds_example_with_its_iteration_numbers(agent, tmp_path):
    """Seed ``agent-hub.md``, Understanding the terminology."""
    told = []

    def tell(name, action):
        def step(state):
            told.append((name, state.delegate_level, state.iteration, state.local_iteration))
            return action(state) if callable(action) else action

        return step

    def convey(state):
        observation = state.newest_observation()
        assert isinstance(observation, AgentDelegateObservation)
        return AgentFinishAction(final_thought=f"OpenHands has {observation.outputs['stars']} stars.")

    def found(state):
        assert state.inputs == {"site": "GitHub"}
        assert state.root_task == "how many GitHub stars has OpenHands?"
        return AgentFinishAction(outputs={"stars": 7})

    browsing = agent(
        tell("BrowsingAgent", MessageAction(content="Let me find the answer.")), tell("BrowsingAgent", found)
    )
    ask = AgentDelegateAction(agent="browsing", task="count the stars", inputs={"site": "GitHub"})
    coding = agent(
        tell("CodeActAgent", ask),
        tell("CodeActAgent", convey),
        spec=AgentSpec(name="coding", delegates=("browsing",)),
        tools=[],
        agents={"browsing": browsing},
    )
    state = await coding.ainvoke({"messages": [("user", "how many GitHub stars has OpenHands?")]})
    assert state["outcome"].answer == "OpenHands has 7 stars."
    assert told == [
        ("CodeActAgent", 0, 0, 0),
        ("BrowsingAgent", 1, 1, 0),
        ("BrowsingAgent", 1, 2, 1),
        ("CodeActAgent", 0, 3, 1),
    ]


async def test_it_is_drawn_as_every_agent_is(agent):
    nodes = set(agent().get_graph().nodes)
    assert {"think", "assess", "confirm", "act", "check_stuck", "gate", "terminate"} <= nodes
    assert isinstance(history_events([])[:1], list)
    assert SuccessObservation().message == ""
