"""What a run may use, met in real graphs: every kind, headless and asked, alone and with children at once."""

import asyncio

import pytest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from clew.graphs import AgentSpec, RunContext, continue_task, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.limits import RunLimits
from clew.state.settings import Price, Settings
from clew.tools.catalog import build_tools

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "look around")]}
USAGE = {"input_tokens": 80, "output_tokens": 20}


@tool
async def look(n: int) -> str:
    """Look."""
    return f"nothing at {n}"


def looking(n, usage=USAGE):
    return {"tool_calls": [{"name": "look", "args": {"n": n}}], "usage": usage}


def delegating(*names):
    return {"tool_calls": [{"name": "delegate", "args": {"agent": name, "task": "look"}} for name in names]}


@pytest.fixture
def agent(tmp_path):
    def make(*replies, limits=None, children=None, **fields):
        settings = Settings(home=tmp_path, limits=limits or RunLimits(), prices={"scripted": Price(output=10_000.0)})
        own = [look, *build_tools(["terminate", "ask_human"])]
        agents = {
            name: create_agent(
                AgentSpec(name=name, tools=["look"], max_steps=99),
                model=ScriptedModel(replies=list(said)),
                tools=[look],
                settings=settings,
            )
            for name, said in (children or {}).items()
        }
        fields = {"name": "tester", "tools": [each.name for each in own], "delegates": list(agents), **fields}
        return create_agent(
            AgentSpec(**fields),
            model=ScriptedModel(replies=list(replies)),
            tools=own,
            checkpointer=InMemorySaver(),
            settings=settings,
            agents=agents,
        )

    return make


BOUNDS = {"max_steps": 2, "max_calls": 2, "max_tokens": 150, "max_cost": 0.3}
"""Each is met by the second step: a step takes a call, 100 tokens and a cost of 0.2."""


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("place", ["spec", "context", "settings"])
async def test_a_headless_run_ends_at_each_limit_names_it_and_keeps_what_was_done(agent, name, place):
    given = {name: BOUNDS[name]}
    graph = agent(
        *[looking(n) for n in range(9)],
        **(given if place == "spec" else {}),
        limits=RunLimits(**given) if place == "settings" else None,
    )
    context = RunContext(headless=True, **(given if place == "context" else {}))
    state = await graph.ainvoke(TASK, THREAD, context=context)
    assert (state["status"], state["outcome"].reason) == ("limit", name)
    assert [message.text for message in state["messages"] if message.type == "tool"] == ["nothing at 0", "nothing at 1"]


@pytest.mark.parametrize("name", BOUNDS)
async def test_a_person_is_asked_at_each_limit_and_a_higher_one_goes_on(agent, name):
    kind = name.removeprefix("max_")
    graph = agent(looking(0), looking(1), looking(2), "done", **{name: BOUNDS[name]})
    (asked,) = (await graph.ainvoke(TASK, THREAD))["__interrupt__"]
    assert (asked.value["kind"], asked.value["data"][name]) == ("limit", BOUNDS[name])
    assert asked.value["data"][kind] >= BOUNDS[name]
    state = await graph.ainvoke(Command(resume={name: 999}), THREAD)
    assert (state["status"], state["progress"]["steps"]) == ("finished", 4)


async def test_a_raise_that_raises_nothing_ends_the_run(agent):
    graph = agent(*[looking(n) for n in range(9)], max_tokens=150)
    await graph.ainvoke(TASK, THREAD)
    state = await graph.ainvoke(Command(resume="150"), THREAD)
    assert (state["status"], state["outcome"].reason) == ("limit", "max_tokens")
    state = await graph.ainvoke(continue_task(state), THREAD)
    assert state["__interrupt__"][0].value["kind"] == "limit"


async def test_the_last_step_within_a_limit_may_finish(agent):
    state = await agent(looking(0), "done", max_calls=2, max_tokens=10_000).ainvoke(TASK, THREAD)
    assert state["status"] == "finished"


async def test_working_time_is_a_limit_and_waiting_for_a_person_is_no_work(agent):
    asking = {"tool_calls": [{"name": "ask_human", "args": {"inquire": "Which?"}}]}
    graph = agent(asking, *[looking(n) for n in range(9)])
    clock = asyncio.get_running_loop().time
    began = clock()
    await graph.ainvoke(TASK, THREAD)
    worked = clock() - began
    await asyncio.sleep(0.5)  # this is the wait that is not to be counted
    began = clock()
    state = await graph.ainvoke(Command(resume="any"), THREAD, context=RunContext(headless=True, max_steps=3))
    worked += clock() - began
    assert 0 < state["progress"]["seconds"] <= worked
    state = await graph.ainvoke(continue_task(state), THREAD, context=RunContext(headless=True, max_seconds=1e-6))
    assert (state["status"], state["outcome"].reason) == ("limit", "max_seconds")


async def test_children_at_once_cannot_overspend_together_and_what_one_leaves_comes_back(agent):
    endless = [looking(n) for n in range(50)]
    graph = agent(
        delegating("one", "two", "three"),
        "concluded",
        children={"one": endless, "two": endless, "three": ["nothing to do"]},
    )
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(headless=True, max_steps=11))
    reports = [message.artifact for message in state["messages"] if message.type == "tool"]
    # Ten steps are left for the three: one gets the odd one, the third uses one of its three.
    assert [report["iterations"] for report in reports] == [4, 3, 1]
    assert [report["status"] for report in reports] == ["limit", "limit", "finished"]
    assert (state["status"], state["progress"]["iteration"]) == ("finished", 1 + 4 + 3 + 1 + 1)
    assert state["progress"]["usage"]["llm_calls"] == 10


@pytest.mark.parametrize(("name", "bound"), [("max_tokens", 1000), ("max_cost", 2.0), ("max_calls", 10)])
async def test_each_child_passes_a_share_by_one_call_at_most(agent, name, bound):
    endless = [looking(n) for n in range(50)]
    graph = agent(delegating("one", "two", "three"), children=dict.fromkeys(("one", "two", "three"), endless))
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(headless=True, **{name: bound}))
    assert (state["status"], state["outcome"].reason) == ("limit", name)
    assert state["progress"]["usage"]["llm_calls"] <= 10 + 3


async def test_children_for_whom_too_little_is_left_wait_for_what_comes_back(agent):
    graph = agent(delegating("one", "two", "three"), children={"one": ["a"], "two": ["b"], "three": ["c"]})
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(headless=True, max_steps=3))
    results = [message.text for message in state["messages"] if message.type == "tool"]
    assert results[0].endswith("a")
    assert results[1].endswith("b")
    assert results[2] == "Not begun: nothing is left of the run's limits."
    assert (state["status"], state["progress"]["iteration"]) == ("limit", 3)


async def test_a_limit_met_in_a_child_is_asked_there_and_a_raised_one_goes_on_there(agent):
    graph = agent(delegating("one"), "concluded", children={"one": [looking(0), looking(1), looking(2), "seen"]})
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(max_steps=3))
    (asked,) = state["__interrupt__"]
    assert (asked.value["path"], asked.value["data"]) == (["tester", "one"], {"steps": 2, "max_steps": 2})
    resume = Command(resume={asked.id: {"max_steps": 10}})
    state = await graph.ainvoke(resume, THREAD, context=RunContext(max_steps=10))
    assert (state["status"], state["progress"]["iteration"]) == ("finished", 6)


async def test_a_raise_that_gives_a_child_nothing_asks_again_and_a_number_is_for_the_child_alone(agent):
    endless = [looking(n) for n in range(50)]
    graph = agent(delegating("one", "two"), "concluded", children={"one": endless, "two": endless})
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(max_steps=5))
    questions = state["__interrupt__"]
    assert [asked.value["data"] for asked in questions] == [{"steps": 2, "max_steps": 2}] * 2
    resume = Command(resume={asked.id: {"max_steps": 6} for asked in questions})
    state = await graph.ainvoke(resume, THREAD, context=RunContext(max_steps=6))
    assert [asked.value["data"] for asked in state["__interrupt__"]] == [{"steps": 2, "max_steps": 2}] * 2
    first, second = state["__interrupt__"]
    resume = Command(resume={first.id: 3, second.id: "stop"})
    state = await graph.ainvoke(resume, THREAD, context=RunContext(max_steps=6))
    (asked,) = state["__interrupt__"]
    assert asked.value["data"] == {"steps": 3, "max_steps": 3}


async def test_a_child_s_own_limit_is_raised_by_name(agent):
    children = {"one": [looking(n) for n in range(99)]}
    graph = agent(delegating("one"), "concluded", children=children)
    (asked,) = (await graph.ainvoke(TASK, THREAD))["__interrupt__"]
    assert asked.value["data"] == {"steps": 99, "max_steps": 99}
