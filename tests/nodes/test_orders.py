"""Pause, stop and say at every depth: in the agent, in children at once, in the steps of a plan."""

import asyncio

import pytest
from langchain_core.tools import tool
from langgraph.types import Command

from clew.checkpoints.inbox import Inbox
from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, continue_flow, create_agent, create_plan_flow
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "look around")]}


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "clew.db") as opened:
        yield opened


@pytest.fixture
def ask(saver):
    """A tool that asks something of the run that calls it, as another terminal would."""

    @tool
    async def order(kind: str, text: str = "") -> str:
        """Ask."""
        await Inbox(saver).send("t", kind, text)
        return f"asked {kind}"

    return order


@tool
async def look() -> str:
    """Look."""
    return "nothing"


def calling(name, **args):
    return {"tool_calls": [{"name": name, "args": args}]}


def delegating(*names):
    return {"tool_calls": [{"name": "delegate", "args": {"agent": name, "task": "look"}} for name in names]}


@pytest.fixture
def agent(saver, ask, tmp_path):
    def make(*replies, children=None, tools=(), **fields):
        settings, own = Settings(home=tmp_path), [ask, look, *tools]

        def made(name, said, **more):
            spec = AgentSpec(name=name, tools=[each.name for each in own], **more)
            requests[name] = []

            def reply(messages, offered):
                requests[name].append([message.text for message in messages])
                return said[sum(message.type == "ai" for message in messages)]

            model = ScriptedModel(reply=reply)
            root = saver if name == "tester" else None
            return create_agent(spec, model=model, tools=own, checkpointer=root, settings=settings, agents=agents)

        requests, agents = {}, {}
        agents.update({name: made(name, said) for name, said in (children or {}).items()})
        return made("tester", replies, delegates=list(agents), **fields), requests

    return make


def kinds(state):
    return [asked.value["kind"] for asked in state.get("__interrupt__", [])]


async def run(graph, input=TASK, **context):
    return await graph.ainvoke(input, THREAD, context=RunContext(**context), durability="sync")


@pytest.mark.parametrize("headless", [False, True])
async def test_a_pause_waits_at_the_gate_even_where_nobody_answers_questions(agent, headless):
    graph, requests = agent(calling("order", kind="pause"), "done")
    state = await run(graph, headless=headless)
    assert (kinds(state), len(requests["tester"])) == (["paused"], 1)
    state = await run(graph, Command(resume="resume"), headless=headless)
    assert (state["status"], len(requests["tester"])) == ("finished", 2)


async def test_words_at_a_pause_go_to_the_agent_and_stop_ends_the_task(agent):
    graph, requests = agent(calling("order", kind="pause"), calling("order", kind="pause"), "done")
    await run(graph)
    await run(graph, Command(resume="look to the left"))
    assert requests["tester"][1][-1] == "look to the left"
    state = await run(graph, Command(resume="stop"))
    assert (state["status"], state["outcome"].reason) == ("cancelled", "stopped")


async def test_a_pause_in_a_child_is_over_for_all_once_it_is_resumed(agent):
    child = [calling("order", kind="pause"), "seen"]
    graph, _ = agent(delegating("one"), calling("look"), "done", children={"one": child})
    state = await run(graph)
    assert [asked.value["path"] for asked in state["__interrupt__"]] == [["tester", "one"]]
    state = await run(graph, Command(resume="resume"))
    assert (kinds(state), state["status"]) == ([], "finished")


async def test_children_at_once_pause_each_at_its_gate_and_all_go_on(agent):
    meeting = asyncio.Barrier(2)

    @tool
    async def meet() -> str:
        """Wait for the other."""
        async with asyncio.timeout(20):
            await meeting.wait()
        return "met"

    one = [calling("order", kind="pause"), calling("look"), "seen"]
    pausing = {"tool_calls": [calling("meet")["tool_calls"][0], one[0]["tool_calls"][0]]}
    children = {"one": [pausing, "seen"], "two": [calling("meet"), calling("look"), "seen"]}
    graph, _ = agent(delegating("one", "two"), "done", children=children, tools=[meet])
    state = await run(graph)
    assert set(kinds(state)) == {"paused"}
    while kinds(state):
        state = await run(graph, Command(resume={asked.id: "resume" for asked in state["__interrupt__"]}))
    assert (state["status"], state["progress"]["iteration"]) == ("finished", 7)


async def test_a_stop_in_a_child_stops_the_whole_run_once(agent):
    child = [calling("order", kind="stop"), "never"]
    graph, requests = agent(delegating("one"), "never", children={"one": child})
    state = await run(graph)
    assert (state["status"], state["outcome"].reason) == ("cancelled", "stopped")
    assert (len(requests["one"]), len(requests["tester"])) == (1, 1)


async def test_a_stop_leaves_the_calls_of_the_reply_that_have_not_begun(agent):
    ran = []

    @tool
    async def alone() -> str:
        """Be alone."""
        ran.append(1)
        return "ran"

    alone.metadata = {"parallel": False}
    reply = {"tool_calls": [calling("order", kind="stop")["tool_calls"][0], calling("alone")["tool_calls"][0]]}
    graph, _ = agent(reply, "never", tools=[alone])
    state = await run(graph)
    assert (state["status"], ran) == ("cancelled", [])
    assert [message.text for message in state["messages"] if message.type == "tool"] == [
        "asked stop",
        "Not run: a person stopped the task.",
    ]


async def test_what_is_said_is_read_by_every_agent_that_is_at_work_once(agent):
    child = [calling("order", kind="say", text="mind the gap"), calling("look"), "seen"]
    graph, requests = agent(delegating("one"), calling("look"), "done", children={"one": child})
    state = await run(graph)
    assert state["status"] == "finished"
    for name in ("one", "tester"):
        assert requests[name][-1].count("mind the gap") == 1
    assert state["progress"]["task"] == 0


async def test_a_long_call_and_a_long_think_are_cancelled_by_a_stop(saver, tmp_path):
    begun = asyncio.Event()

    @tool
    async def sleep() -> str:
        """Sleep."""
        begun.set()
        await asyncio.sleep(3600)
        return "late"

    async def reply(messages, offered):
        if messages[-1].type == "tool":
            begun.set()
            await asyncio.sleep(3600)
        return calling("sleep")

    settings, spec = Settings(home=tmp_path), AgentSpec(name="tester", tools=["sleep"])
    graph = create_agent(spec, model=ScriptedModel(reply=reply), tools=[sleep], checkpointer=saver, settings=settings)
    running = asyncio.create_task(run(graph))
    await begun.wait()
    await Inbox(saver).send("t", "stop")
    async with asyncio.timeout(60):
        state = await running
    assert state["status"] == "cancelled"
    assert "a person stopped the run" in state["messages"][-1].text


async def test_a_poll_costs_one_query_a_step(agent, saver, monkeypatch):
    queries = []
    fetch = saver.database.fetch

    async def counted(query, parameters=()):
        queries.append(query)
        return await fetch(query, parameters)

    monkeypatch.setattr(saver.database, "fetch", counted)
    graph, _ = agent(*[calling("look")] * 3, "done")
    await run(graph)
    asked = [query for query in queries if "inbox" in query]
    assert len(asked) == 3 + 2  # and one at the beginning and at the end


@pytest.fixture
def flow(saver, ask, tmp_path):
    def make(steps, said):
        def reply(messages, offered):
            text = "\n".join(message.text for message in messages if message.type in ("system", "human"))
            if "Make a plan" in text:
                return calling("planning", command="create", title="t", steps=steps)
            if "All steps of the plan are done" in text:
                return "All done."
            asked.append(text)
            step = text.rpartition("Current step: ")[2].split()[0]
            return said.get(step, ["done"])[sum(message.type == "ai" for message in messages)]

        asked, settings = [], Settings(home=tmp_path)
        worker = create_agent(
            AgentSpec(name="worker", tools=["order", "look"]),
            model=ScriptedModel(reply=reply),
            tools=[ask, look],
            settings=settings,
        )
        model = ScriptedModel(reply=reply)
        return create_plan_flow({"worker": worker}, model=model, checkpointer=saver, settings=settings), asked

    return make


async def test_a_pause_in_a_step_of_a_plan_waits_there_and_is_over_once_resumed(flow):
    graph, _ = flow(["first", "second"], {"first": [calling("order", kind="pause"), "done"]})
    state = await run(graph)
    assert kinds(state) == ["paused"]
    state = await run(graph, Command(resume="resume"))
    assert state["status"] == "finished"


async def test_a_stop_in_a_step_stops_the_plan_which_can_be_taken_up_again(flow):
    graph, asked = flow(["first", "second"], {"first": [calling("order", kind="stop"), "done"]})
    state = await run(graph)
    assert (state["status"], state["outcome"].reason) == ("cancelled", "stopped")
    assert [step.status for step in state["plan"].steps] == ["not_started", "not_started"]
    assert len(asked) == 1
    state = await run(graph, continue_flow(state), max_steps=1)
    assert kinds(state) == ["limit"]


async def test_what_is_said_reaches_the_steps_that_come_after_too(flow):
    graph, asked = flow(["first", "second"], {"first": [calling("order", kind="say", text="in red"), "done"]})
    state = await run(graph)
    assert state["status"] == "finished"
    assert [text.count("in red") for text in asked] == [0, 1, 1]
