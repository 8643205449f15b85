"""What a task took, in its state, its end event and its view: the whole and its parts."""

import asyncio

import pytest
from langchain_core.tools import tool

from clew.apps.drive import drive
from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent, create_plan_flow
from clew.models.call import call_model
from clew.models.scripted import ScriptedModel
from clew.state.metrics import run_metrics, subtask_metrics
from clew.state.outcome import Usage
from clew.state.settings import Price, Settings
from clew.tools.catalog import build_tools

TASK = {"messages": [("user", "work")]}
USED = {"input_tokens": 1000, "cached_tokens": 400, "output_tokens": 10}


@tool
async def work(seconds: float) -> str:
    """Work for some time."""
    await asyncio.sleep(seconds)
    return "done"


def say(name, **args):
    return {"tool_calls": [{"name": name, "args": args}], "usage": USED}


END = say("terminate", status="success", answer="done")


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path, prices={"scripted": Price(input=1.0, cached_input=0.5, output=10.0)})


@pytest.fixture
def agent(settings):
    def make(*replies, checkpointer=None, **options):
        tools = [work, *build_tools(["terminate"])]
        spec = AgentSpec(name="worker", tools=[each.name for each in tools], **options.pop("fields", {}))
        model = ScriptedModel(replies=list(replies))
        return create_agent(spec, model=model, tools=tools, settings=settings, checkpointer=checkpointer, **options)

    return make


async def test_iterations_calls_tokens_cost_and_the_time_of_each_node_are_counted(agent):
    state = await agent(say("work", seconds=0.2), say("work", seconds=0.1), END).ainvoke(TASK)
    metrics = run_metrics(state["progress"])
    assert (metrics.iterations, metrics.tool_calls, metrics.retries) == (3, 3, 0)
    assert metrics.usage.model_dump(exclude={"cost"}) == {
        "llm_calls": 3,
        "input_tokens": 3000,
        "cached_tokens": 1200,
        "output_tokens": 30,
    }
    assert metrics.usage.cost == pytest.approx(3 * (600 * 1.0 + 400 * 0.5 + 10 * 10.0) / 1e6)
    assert metrics.nodes["act"] >= 0.3
    assert metrics.nodes["think"] > 0
    assert metrics.seconds >= metrics.nodes["act"]


async def test_a_retried_call_is_a_retry_and_one_call(agent, monkeypatch):
    async def at_once(*args, **kwargs):
        return await call_model(*args, **{**kwargs, "first_delay": 0.0})

    monkeypatch.setattr("clew.nodes.think.call_model", at_once)
    failing = {"error": {"status": 503, "times": 2}}
    state = await agent(say("work", seconds=0), failing, END).ainvoke(TASK)
    metrics = run_metrics(state["progress"])
    assert (metrics.retries, metrics.usage.llm_calls) == (2, 2)


async def test_retries_of_the_planner_count_too(settings, monkeypatch):
    async def at_once(*args, **kwargs):
        return await call_model(*args, **{**kwargs, "first_delay": 0.0})

    monkeypatch.setattr("clew.nodes.model_source.call_model", at_once)
    plan = say("planning", command="create", title="t", steps=["one"])
    model = ScriptedModel(replies=[{"error": {"status": 503, "times": 2}}, plan, END, "All done."])
    worker = create_agent(AgentSpec(name="worker", tools=["terminate"]), model=ScriptedModel(replies=[END]))
    flow = create_plan_flow({"worker": worker}, model=model, settings=settings)
    state = await flow.ainvoke(TASK)
    assert (run_metrics(state["progress"]).retries, subtask_metrics("planner", state)[0].retries) == (2, 2)


async def test_the_counters_do_not_grow_with_the_steps_and_begin_anew_with_a_task(agent, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        graph = agent(*[say("work", seconds=n / 1000) for n in range(9)], END, "Again.", checkpointer=saver)
        config = {"configurable": {"thread_id": "t"}}
        state = await graph.ainvoke(TASK, config)
        assert set(state["progress"]["counts"]["nodes"]) <= {"think", "act", "check_stuck", "terminate"}
        assert run_metrics(state["progress"]).tool_calls == 10
        state = await graph.ainvoke({"messages": [("user", "again")]}, config)
        assert run_metrics(state["progress"]).tool_calls == 0


async def test_the_end_of_a_run_tells_what_it_took(agent, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        graph = agent(say("work", seconds=0.05), END, checkpointer=saver)
        *_, end = [event async for event in drive(graph, "t", {"messages": [("user", "work")]})]
    assert (end.metrics.tool_calls, end.metrics.usage) == (2, end.usage)
    assert end.metrics.nodes["act"] >= 0.05
    assert end.model_dump(mode="json")["metrics"]["iterations"] == 2


async def test_what_a_delegate_took_is_in_the_whole_and_apart(agent):
    child = agent(say("work", seconds=0.1), END)
    parent = agent(
        say("delegate", agent="helper", task="help"), END, agents={"helper": child}, fields={"delegates": ["helper"]}
    )
    state = await parent.ainvoke(TASK)
    total = run_metrics(state["progress"])
    own, delegate = subtask_metrics("worker", state)
    assert (total.iterations, own.iterations, delegate.iterations) == (4, 2, 2)
    assert (total.tool_calls, own.tool_calls, delegate.tool_calls) == (4, 2, 2)
    assert (own.agent, delegate.agent, delegate.level) == ("worker", "helper", 1)
    assert own.usage + delegate.usage == total.usage.model_copy(update={"cost": own.usage.cost + delegate.usage.cost})
    assert own.usage.llm_calls == delegate.usage.llm_calls == 2
    assert delegate.nodes["act"] >= 0.1
    assert total.nodes["helper/act"] == delegate.nodes["act"]
    assert total.nodes["delegate_helper"] >= 0.1


async def test_what_the_steps_of_a_plan_took_is_in_the_whole_and_apart(settings):
    def reply(messages, tools):
        names = [each["function"]["name"] for each in tools]
        if "planning" in names and "work" not in names:
            return say("planning", command="create", title="t", steps=["one", "two"])
        if "work" not in names:
            return {"content": "All done.", "usage": USED}
        return END if messages[-1].type == "tool" else say("work", seconds=0.05)

    tools = [work, *build_tools(["terminate"])]
    spec = AgentSpec(name="worker", tools=[each.name for each in tools])
    model = ScriptedModel(reply=reply)
    worker = create_agent(spec, model=model, tools=tools, settings=settings)
    flow = create_plan_flow({"worker": worker}, model=model, settings=settings)
    state = await flow.ainvoke(TASK)
    total, parts = run_metrics(state["progress"]), subtask_metrics("planner", state)
    assert [part.agent for part in parts] == ["planner", "s1 (worker)", "s2 (worker)"]
    assert (total.iterations, total.tool_calls) == (4, 4)
    assert total.nodes["worker/act"] >= 0.1
    assert total.nodes["create_plan"] > 0
    assert sum((part.usage for part in parts), Usage()).llm_calls == total.usage.llm_calls == 6
