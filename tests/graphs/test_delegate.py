"""Delegation: an agent gives a part of its task to another one (seed agent-hub.md, Agent Delegation)."""

import asyncio

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from clew.apps.drive import drive
from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.delegation import DelegateReport
from clew.state.errors import UsageError
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

THREAD = {"configurable": {"thread_id": "t"}}


def call(name, **args):
    return {"name": name, "args": args}


def calls(*made, content=""):
    return {"content": content, "tool_calls": list(made)}


def delegating(agent, task="look", **inputs):
    return call("delegate", agent=agent, task=task, inputs=inputs)


def ended(answer, status="success", **more):
    return calls(call("terminate", status=status, answer=answer, **more))


def task(text):
    return {"messages": [("user", text)]}


@pytest.fixture
def agents(tmp_path):
    """Make a graph of agents, each given as `name=(delegates, replies)`; the first is the outermost."""

    def make(checkpointer=None, settings=None, specs=None, tools=(), **scripts):
        requests = {name: [] for name in scripts}
        own = ["terminate", "reject", "ask_human"]
        settings = settings or Settings(home=tmp_path)

        def model(name, replies):
            replies = iter(replies)

            def reply(messages, offered):
                requests[name].append((list(messages), [each["function"]["name"] for each in offered]))
                return next(replies)

            return ScriptedModel(reply=reply)

        graphs = {}
        for name, (delegates, replies) in reversed(scripts.items()):
            names = [*own, *(each.name for each in tools)]
            spec = AgentSpec(name=name, tools=names, delegates=delegates, **(specs or {}).get(name, {}))
            graphs[name] = create_agent(
                spec,
                model=model(name, replies),
                tools=[*build_tools(own), *tools],
                checkpointer=checkpointer if name == next(iter(scripts)) else None,
                settings=settings,
                agents=graphs,
            )
        return graphs[next(iter(scripts))], requests

    return make


def observations(state):
    return [message for message in state["messages"] if isinstance(message, ToolMessage) and message.name == "delegate"]


def report(state):
    [observation] = observations(state)
    return DelegateReport.model_validate(observation.artifact)


STARS = "tell me how many GitHub stars OpenHands repo has"


async def test_the_example_of_the_seed_counts_as_the_seed_does(agents):
    coder = [calls(delegating("browsing", STARS), content="I should request help"), "It has 65000 stars."]
    browsing = ["Let me find the answer on GitHub", ended("65000")]
    graph, _ = agents(
        coder=(("browsing",), coder),
        browsing=((), [calls(call("look"), content=browsing[0]), browsing[1]]),
        tools=[look],
    )
    seen = []
    async for _, part in graph.astream(task(STARS), stream_mode="tasks", subgraphs=True):
        if part["name"] == "think" and "result" in part:
            counters = part["result"]["progress"]
            seen.append((counters["level"], counters["iteration"] - 1, counters["steps"] - 1))
    assert seen == [
        # DELEGATE_LEVEL, ITERATION, LOCAL_ITERATION
        (0, 0, 0),
        (1, 1, 0),
        (1, 2, 1),
        (0, 3, 1),
    ]


@tool
def look() -> str:
    """Look."""
    return "nothing to see"


async def test_the_delegator_gets_one_observation_with_answer_outputs_and_status(agents):
    graph, _ = agents(
        coder=(("browsing",), [calls(delegating("browsing", STARS, repo="OpenHands", page=1)), "Done."]),
        browsing=((), [calls(call("look")), ended("65000", outputs={"stars": 65000})]),
        tools=[look],
    )
    state = await graph.ainvoke(task(STARS))
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai"]
    [observation] = observations(state)
    assert observation.text == "`browsing` has done the task.\n\n65000\n\nOutputs:\n- stars: 65000"
    assert observation.status == "success"
    found = report(state)
    assert (found.agent, found.level, found.status, found.success) == ("browsing", 1, "finished", True)
    assert (found.answer, found.outputs, found.iterations) == ("65000", {"stars": 65000}, 2)


async def test_the_delegate_knows_its_task_and_inputs_and_nothing_else(agents):
    graph, requests = agents(
        coder=(("browsing",), [calls(delegating("browsing", "count", repo="OpenHands", pages=[1, 2])), "Done."]),
        browsing=((), [ended("65000")]),
    )
    await graph.ainvoke(task("a secret"))
    [(messages, _)] = requests["browsing"]
    assert [message.text for message in messages] == [
        "count\n\nWhat you are given:\n- repo: OpenHands\n- pages: [1, 2]"
    ]


async def test_what_a_delegate_used_is_counted_into_what_the_task_used(agents):
    graph, _ = agents(
        coder=(("browsing",), [calls(delegating("browsing")), "Done."]),
        browsing=(("deeper",), [calls(delegating("deeper")), ended("65000")]),
        deeper=((), [ended("here")]),
    )
    state = await graph.ainvoke(task("count"))
    assert state["progress"]["usage"]["llm_calls"] == 5
    assert (state["progress"]["iteration"], state["progress"]["steps"]) == (5, 2)
    assert report(state).usage.llm_calls == report(state).iterations == 3


@pytest.mark.parametrize(
    ("replies", "spec", "status", "reason", "had"),
    [
        ([ended("no such page", "failure")], {}, "finished", "terminate", "no such page"),
        (
            [calls(call("reject", reason="that is private", outputs={"seen": 3}))],
            {},
            "rejected",
            "that is private",
            "seen: 3",
        ),
        ([calls(call("look"), content="I begin")] * 2, {"max_steps": 2}, "limit", "max_steps", "nothing to see"),
        ([calls(call("look"), content="Again")] * 9, {}, "stuck", "repeated_text", "Again"),
        ([{"error": {"status": 400, "message": "too hot"}}], {}, "error", "too hot", "It said nothing."),
    ],
)
async def test_of_a_delegate_that_failed_the_delegator_learns_why_and_what_it_had(
    agents, replies, spec, status, reason, had
):
    graph, _ = agents(
        coder=(("browsing",), [calls(delegating("browsing")), "I do it myself."]),
        browsing=((), replies),
        specs={"browsing": spec},
        tools=[look],
    )
    state = await graph.ainvoke(task("count"))
    found, [observation] = report(state), observations(state)
    assert (found.status, found.success) == (status, False)
    assert reason in found.reason
    assert observation.status == "error"
    assert f"`browsing` has not done the task. It ended as {status}" in observation.text
    assert had in observation.text
    assert (state["status"], state["outcome"].answer) == ("finished", "I do it myself.")


async def test_delegations_of_one_message_run_at_the_same_time(agents):
    meeting = asyncio.Barrier(3)

    @tool
    async def meet() -> str:
        """Wait until three of us are here."""
        async with asyncio.timeout(30):
            await meeting.wait()
        return "met"

    three = calls(*(delegating(agent, agent) for agent in ("left", "right")), call("meet"))
    graph, _ = agents(
        coder=(("left", "right"), [three, "Done."]),
        left=((), [calls(call("meet")), ended("left")]),
        right=((), [calls(call("meet")), ended("right")]),
        tools=[meet],
    )
    state = await graph.ainvoke(task("count"))
    assert sorted(each.artifact["answer"] for each in observations(state)) == ["left", "right"]
    assert state["progress"]["iteration"] == 6
    assert state["progress"]["usage"]["llm_calls"] == 6


async def test_the_same_agent_may_have_two_tasks_at_once(agents):
    graph, requests = agents(
        coder=(("one",), [calls(delegating("one", "a"), delegating("one", "b")), "Done."]),
        one=((), [ended("x"), ended("y")]),
    )
    state = await graph.ainvoke(task("count"))
    assert sorted(each.artifact["answer"] for each in observations(state)) == ["x", "y"]
    assert sorted(messages[0].text for messages, _ in requests["one"]) == ["a", "b"]


async def test_a_question_of_a_delegate_waits_and_only_its_answer_goes_on(agents):
    graph, requests = agents(
        InMemorySaver(),
        coder=(("browsing",), [calls(delegating("browsing")), "Done."]),
        browsing=(("deeper",), [calls(delegating("deeper")), ended("asked")]),
        deeper=((), [calls(call("ask_human", inquire="Which?")), ended("answered")]),
    )
    asked = await graph.ainvoke(task("count"), THREAD, durability="sync")
    [interrupt] = asked["__interrupt__"]
    assert interrupt.value["path"] == ["coder", "browsing", "deeper"]
    state = await graph.ainvoke(Command(resume="this one"), THREAD, durability="sync")
    assert (state["status"], report(state).answer) == ("finished", "asked")
    assert {name: len(each) for name, each in requests.items()} == {"coder": 2, "browsing": 2, "deeper": 2}


async def test_the_limit_of_a_delegate_is_asked_about_and_raised_there(agents):
    graph, requests = agents(
        InMemorySaver(),
        coder=(("browsing",), [calls(delegating("browsing")), "Done."]),
        browsing=((), [calls(call("look")), ended("found")]),
        specs={"browsing": {"max_steps": 1}},
        tools=[look],
    )
    asked = await graph.ainvoke(task("count"), THREAD)
    [interrupt] = asked["__interrupt__"]
    assert (interrupt.value["kind"], interrupt.value["path"]) == ("limit", ["coder", "browsing"])
    state = await graph.ainvoke(Command(resume=5), THREAD)
    assert report(state).answer == "found"
    assert len(requests["browsing"]) == 2


async def test_the_delegates_stand_in_the_drawing_and_in_the_state(agents):
    graph, _ = agents(
        InMemorySaver(),
        coder=(("browsing",), [calls(delegating("browsing")), "Done."]),
        browsing=((), [calls(call("ask_human", inquire="Which?"))]),
    )
    drawing = graph.get_graph(xray=True).draw_mermaid()
    assert "subgraph delegate_browsing" in drawing
    assert "think -.-> delegate_browsing" in graph.get_graph().draw_mermaid()
    await graph.ainvoke(task("count"), THREAD)
    [waiting] = (await graph.aget_state(THREAD, subgraphs=True)).tasks
    assert waiting.name == "delegate_browsing"
    assert waiting.state.values["messages"][0].text == "look"


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ({"agent": "nobody", "task": "x"}, "wrong arguments for `delegate`: agent: Input should be 'browsing'"),
        ({"agent": "browsing"}, "wrong arguments for `delegate`: task"),
        ({"agent": "browsing", "task": ""}, "wrong arguments for `delegate`: task"),
    ],
)
async def test_a_delegation_that_cannot_be_is_refused_and_the_agent_hears_why(agents, args, complaint):
    graph, requests = agents(coder=(("browsing",), [calls(call("delegate", **args)), "Done."]), browsing=((), []))
    state = await graph.ainvoke(task("count"))
    assert complaint in observations(state)[0].text
    assert requests["browsing"] == []


async def test_agents_that_delegate_to_each_other_end_at_the_deepest_level(tmp_path):
    def reply(messages, tools):
        newest = messages[-1]
        if newest.type == "tool":
            return f"I was told: {newest.text}"
        other = "pong" if "ping" in messages[0].text else "ping"
        return calls(delegating(other, f"you are {other}"))

    specs = {
        "ping": AgentSpec(name="ping", system_prompt="ping", delegates=("pong",)),
        "pong": AgentSpec(name="pong", system_prompt="pong", delegates=("ping",)),
    }
    settings = Settings(home=tmp_path, max_delegate_level=2)
    graph = create_agent(specs["ping"], model=ScriptedModel(reply=reply), settings=settings, agents=specs)
    state = await graph.ainvoke(task("play"))
    assert "delegated as often as tasks may be; do it yourself" in state["outcome"].answer
    assert state["progress"]["iteration"] == 6


def test_a_delegate_that_there_is_not_is_refused_with_the_names_that_there_are():
    with pytest.raises(UsageError, match="no agent 'browsin'"):
        create_agent(AgentSpec(name="coder", delegates=("browsin",)))


def test_the_tool_without_anybody_to_delegate_to_is_refused():
    with pytest.raises(UsageError, match="'coder' has the tool `delegate` and nobody to delegate to: name `delegates`"):
        create_agent(AgentSpec(name="coder", tools=("delegate",)))


async def test_a_run_tells_of_its_delegates_by_their_names(agents):
    graph, _ = agents(
        InMemorySaver(),
        coder=(("browsing",), [calls(delegating("browsing")), "Done."]),
        browsing=((), [calls(call("look")), ended("65000")]),
        tools=[look],
    )
    told = [event async for event in drive(graph, "t", task("count"))]
    assert [(event.event, event.path, event.name) for event in told if event.event in ("tool_start", "tool_end")] == [
        ("tool_start", [], "delegate"),
        ("tool_start", ["browsing"], "look"),
        ("tool_end", ["browsing"], "look"),
        ("tool_start", ["browsing"], "terminate"),
        ("tool_end", ["browsing"], "terminate"),
        ("tool_end", [], "delegate"),
    ]
    assert told[-1].usage.llm_calls == 4
