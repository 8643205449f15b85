"""A person decides about tool calls before they are made."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage, convert_to_openai_messages
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from openai_rules import check_request

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, RunContext, create_agent
from clew.models.scripted import ScriptedModel
from clew.nodes.confirm import with_arguments
from clew.nodes.view import sent_view
from clew.state.settings import Settings
from clew.tools.catalog import build_tools
from clew.tools.traits import Traits

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "do it")]}


def call(tool_name, identifier=None, **args):
    return {"name": tool_name, "args": args, **({"id": identifier} if identifier else {})}


def calling(*calls):
    return {"tool_calls": list(calls)}


class Desk:
    """Tools of each risk that write down what they are called with."""

    def __init__(self):
        self.log = []

        @tool
        def look(at: str) -> str:
            """Look."""
            self.log.append(("look", at))
            return f"seen {at}"

        @tool
        def pay(amount: int, to: str = "shop") -> str:
            """Pay."""
            self.log.append(("pay", amount, to))
            return f"paid {amount}"

        @tool
        def foreign(x: int) -> str:
            """Nobody knows."""
            self.log.append(("foreign", x))
            return "done"

        look.metadata = Traits(risk="low").metadata()
        pay.metadata = Traits(risk="high", parallel=False).metadata()
        self.tools = [look, pay, foreign, *build_tools(["terminate", "ask_human"])]


@pytest.fixture
def desk():
    return Desk()


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "threads.db") as saver:
        yield saver


def clerk(desk, replies, saver, settings, confirm, name="clerk"):
    """An agent with the tools of the desk."""
    return create_agent(
        AgentSpec(name=name, tools=[each.name for each in desk.tools]),
        model=ScriptedModel(reply=replies) if callable(replies) else ScriptedModel(replies=replies),
        tools=desk.tools,
        checkpointer=saver,
        settings=settings,
        confirm=confirm,
    )


@pytest.fixture
def agent(desk, saver, tmp_path):
    def make(*replies, confirm="risky", checkpointer=saver):
        return clerk(desk, [*replies, "Done."], checkpointer, Settings(home=tmp_path), confirm)

    return make


async def run(graph, input=TASK, **context):
    return await graph.ainvoke(input, THREAD, durability="sync", context=RunContext(**context))


async def answer(graph, value):
    return await run(graph, Command(resume=value))


def question(state):
    (pending,) = state["__interrupt__"]
    return pending.value


def results(state):
    return [(m.tool_call_id, m.status, m.text) for m in state["messages"] if isinstance(m, ToolMessage)]


async def visited(graph):
    return [s.next[0] for s in reversed([s async for s in graph.aget_state_history(THREAD)]) if s.next][1:]


async def test_an_approved_call_runs_as_the_model_wrote_it(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=5)))
    asked = question(await run(graph))
    assert (asked["kind"], asked["path"]) == ("confirm", ["clerk"])
    assert asked["options"] == ["approve", "approve_kind", "edit", "reject"]
    (pending,) = asked["data"]["calls"]
    assert pending == {
        "id": "c1",
        "name": "pay",
        "args": {"amount": 5},
        "risk": "high",
        "kind": "pay (high risk)",
        "preview": {"language": "", "text": "", "arguments": []},
    }
    assert desk.log == []
    state = await answer(graph, "approve")
    assert desk.log == [("pay", 5, "shop")]
    assert state["status"] == "finished"


async def test_a_rejected_call_is_answered_with_the_reason_and_the_agent_goes_on(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=5)), calling(call("look", "c2", at="menu")))
    await run(graph)
    state = await answer(graph, {"reject": "too dear"})
    assert desk.log == [("look", "menu")]
    (_, status, text), _ = results(state)
    assert (status, "too dear" in text, text.startswith("Error: ")) == ("error", True, True)
    assert state["status"] == "finished"


async def test_an_edited_call_replaces_the_models_in_the_history(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=500), call("look", "c2", at="menu")))
    await run(graph)
    state = await answer(graph, {"edit": {"amount": 5, "to": "baker"}})
    assert ("pay", 5, "baker") in desk.log
    (reply,) = [m for m in state["messages"] if isinstance(m, AIMessage) and m.tool_calls]
    assert [each["args"] for each in reply.tool_calls] == [{"amount": 5, "to": "baker"}, {"at": "menu"}]
    assert [m.type for m in state["messages"]] == ["human", "ai", "tool", "tool", "ai"]


async def test_an_edit_also_reaches_the_blocks_of_the_content_that_repeat_the_call(desk):
    reply = AIMessage(
        [
            {"type": "text", "text": "I pay."},
            {"type": "tool_use", "id": "c1", "name": "pay", "input": {"amount": 500}},
            {"type": "function_call", "call_id": "c2", "name": "pay", "arguments": '{"amount": 500}'},
        ],
        tool_calls=[call("pay", "c1", amount=500), call("pay", "c2", amount=500)],
    )
    edited = with_arguments(reply, {"c1": {"amount": 1}, "c2": {"amount": 2}})
    assert [each["args"] for each in edited.tool_calls] == [{"amount": 1}, {"amount": 2}]
    assert [block.get("input") or block.get("arguments") for block in edited.content] == [
        None,
        {"amount": 1},
        '{"amount": 2}',
    ]
    assert reply.tool_calls[0]["args"] == {"amount": 500}


@pytest.mark.parametrize(
    "edit",
    [
        {"edit": {"amount": "much"}},
        {"edit": {"amount": 1, "tip": 2}},
        {"edit": {}},
        {"edit": "amount"},
        {"calls": {"c9": "approve"}},
        {"calls": {}},
        {"approve": True, "reject": "both"},
        "maybe",
        7,
    ],
)
async def test_an_answer_that_decides_nothing_is_asked_again_with_what_is_wrong(agent, desk, edit):
    graph = agent(calling(call("pay", "c1", amount=5)))
    plain = question(await run(graph))
    again = question(await answer(graph, edit))
    assert again["question"].endswith(plain["question"])
    assert len(again["question"]) > len(plain["question"])
    assert again["data"] == plain["data"]
    assert desk.log == []
    assert (await answer(graph, True))["status"] == "finished"
    assert desk.log == [("pay", 5, "shop")]


@pytest.mark.parametrize(
    ("decision", "runs"),
    [
        ("approve", True),
        (True, True),
        ({"approve": True}, True),
        ("approve_kind", True),
        ({"calls": {"c1": "approve"}}, True),
        ({"edit": {"amount": 5}}, True),
        ("reject", False),
        (False, False),
        ({"reject": "no"}, False),
        ({"reject": True}, False),
        ({"calls": {"c1": {"reject": "no"}}}, False),
    ],
)
async def test_every_documented_answer_is_understood(agent, desk, decision, runs):
    graph = agent(calling(call("pay", "c1", amount=5)))
    await run(graph)
    state = await answer(graph, decision)
    assert state["status"] == "finished"
    assert bool(desk.log) == runs


async def test_calls_of_one_reply_are_decided_by_id_and_a_decided_one_is_not_asked_again(agent, desk):
    calls = [call("pay", f"c{n}", amount=n) for n in range(4)]
    graph = agent(calling(*calls, call("look", "c9", at="menu")))
    state = await run(graph)
    assert [each["id"] for each in question(state)["data"]["calls"]] == ["c0", "c1", "c2", "c3"]
    state = await answer(graph, {"calls": {"c2": {"reject": "no"}, "c0": "approve"}})
    assert [each["id"] for each in question(state)["data"]["calls"]] == ["c1", "c3"]
    assert desk.log == []
    state = await answer(graph, {"calls": {"c3": {"edit": {"amount": 33}}}})
    assert [each["id"] for each in question(state)["data"]["calls"]] == ["c1"]
    state = await answer(graph, "approve")
    assert desk.log == [("pay", 0, "shop"), ("pay", 1, "shop"), ("pay", 33, "shop"), ("look", "menu")]
    assert sorted((identifier, status) for identifier, status, _ in results(state)) == [
        ("c0", "success"),
        ("c1", "success"),
        ("c2", "error"),
        ("c3", "success"),
        ("c9", "success"),
    ]


@given(decisions=st.lists(st.sampled_from(["approve", "edit", "reject"]), min_size=1, max_size=5), data=st.data())
@settings(max_examples=15, deadline=None)
async def test_whatever_is_decided_in_whatever_order_the_history_stays_valid(decisions, data):
    desk, saver = Desk(), InMemorySaver()
    calls = [call("pay", f"c{n}", amount=n) for n in range(len(decisions))]
    graph = clerk(desk, [calling(*calls), "Done."], saver, Settings(), "risky")
    state = await run(graph)
    given = {"approve": "approve", "edit": {"edit": {"amount": 99}}, "reject": {"reject": "no"}}
    for place in data.draw(st.permutations(range(len(decisions)))):
        assert f"c{place}" in {each["id"] for each in question(state)["data"]["calls"]}
        state = await answer(graph, {"calls": {f"c{place}": given[decisions[place]]}})
    assert [amount for _, amount, _ in desk.log] == [
        99 if decision == "edit" else place for place, decision in enumerate(decisions) if decision != "reject"
    ]
    view = sent_view(state["messages"], task=0, cut=0, max_messages=100).messages
    check_request({"model": "any", "messages": convert_to_openai_messages(view)})
    assert state["status"] == "finished"


async def test_a_reply_whose_calls_are_all_rejected_goes_on_to_the_next_step(agent, desk):
    graph = agent(calling(call("pay", "c1", amount=5)))
    await run(graph)
    await answer(graph, False)
    assert await visited(graph) == ["think", "assess", "confirm", "check_stuck", "think", "terminate"]


async def test_a_rejected_call_keeps_the_reply_from_ending_the_task_unseen(agent, desk):
    end = call("terminate", "c2", status="success", answer="paid")
    graph = agent(calling(call("pay", "c1", amount=5), end))
    await run(graph)
    state = await answer(graph, {"reject": "no"})
    assert [status for _, status, _ in results(state)] == ["error", "error"]
    assert "another call" in results(state)[1][2]
    assert state["outcome"].answer == "Done."


async def test_the_same_rejected_call_over_and_over_is_a_loop(agent, desk):
    graph = agent(*[calling(call("pay", amount=5))] * 8)
    state = await run(graph)
    while "__interrupt__" in state:
        stuck = state["__interrupt__"][0].value["kind"] == "stuck"
        state = await answer(graph, "stop" if stuck else {"reject": "no"})
    assert (state["status"], state["outcome"].reason) == ("stuck", "repeated_error")


@pytest.mark.parametrize(
    ("confirm", "asked"),
    [("never", []), ("risky", ["pay", "foreign"]), ("always", ["look", "pay", "foreign", "terminate"])],
)
async def test_a_policy_asks_about_the_calls_of_its_risk(agent, confirm, asked):
    calls = [call("look", at="menu"), call("pay", amount=1), call("foreign", x=1)]
    graph = agent(calling(*calls, call("terminate", status="success")), confirm=confirm)
    state = await run(graph)
    assert [each["name"] for each in question(state)["data"]["calls"]] == asked if asked else state["status"]


async def test_a_policy_may_be_a_function_of_the_call_and_its_risk(agent):
    seen = []

    def dear(call, risk):
        seen.append((call["name"], risk))
        return call["args"].get("amount", 0) > 10

    async def dear_indeed(call, risk):
        return dear(call, risk)

    for confirm in (dear, dear_indeed):
        calls = calling(call("pay", "c1", amount=5), call("pay", "c2", amount=50), call("look", "c3", at="x"))
        state = await run(agent(calls, confirm=confirm, checkpointer=InMemorySaver()))
        assert [each["id"] for each in question(state)["data"]["calls"]] == ["c2"]
    assert seen == [("pay", "high"), ("pay", "high"), ("look", "low")] * 2


async def test_ending_the_task_and_asking_the_person_are_never_asked_about(agent):
    graph = agent(
        calling(call("ask_human", inquire="Which?")), calling(call("terminate", status="success")), confirm="always"
    )
    assert question(await run(graph))["kind"] == "input"
    assert (await answer(graph, "this"))["outcome"].reason == "terminate"


async def test_a_run_has_its_own_policy_over_that_of_the_graph(agent, desk):
    graph = agent(calling(call("pay", amount=1)), calling(call("look", at="x")), confirm="never")
    assert question(await run(graph, confirm="always"))["kind"] == "confirm"
    graph = agent(calling(call("pay", amount=1)), confirm="always", checkpointer=InMemorySaver())
    assert (await run(graph, confirm="never"))["status"] == "finished"


async def test_where_nothing_is_to_be_asked_no_superstep_is_added(agent):
    quiet, risky = [
        agent(calling(call("look", at="x")), confirm=confirm, checkpointer=InMemorySaver())
        for confirm in ("never", "risky")
    ]
    for graph in (quiet, risky):
        await run(graph)
        assert await visited(graph) == ["think", "act", "think", "terminate"]
    never = agent(calling(call("pay", amount=1)), confirm="never", checkpointer=InMemorySaver())
    await run(never)
    assert await visited(never) == ["think", "act", "think", "terminate"]


async def test_a_kind_is_approved_for_the_rest_of_the_task_and_no_longer(agent, desk):
    pays = [calling(call("pay", amount=n)) for n in range(3)]
    graph = agent(*pays, "Done.", calling(call("pay", amount=9)))
    await run(graph)
    state = await answer(graph, "approve_kind")
    assert state["status"] == "finished"
    assert [amount for _, amount, _ in desk.log] == [0, 1, 2]
    assert question(await run(graph, {"messages": [("user", "again")]}))["data"]["calls"][0]["name"] == "pay"


async def test_approving_a_kind_decides_the_calls_of_that_kind_beside_it_and_no_other(agent):
    graph = agent(calling(call("pay", "c1", amount=1), call("foreign", "c2", x=1), call("pay", "c3", amount=2)))
    await run(graph)
    state = await answer(graph, {"calls": {"c3": "approve_kind"}})
    assert [each["id"] for each in question(state)["data"]["calls"]] == ["c2"]


@pytest.mark.parametrize("nobody", ["headless", "no thread"])
async def test_where_nobody_can_be_asked_the_call_is_rejected_and_the_model_is_told_why(agent, desk, nobody):
    graph = agent(calling(call("pay", "c1", amount=5), call("look", "c2", at="x")), checkpointer=None)
    if nobody == "headless":
        graph = agent(calling(call("pay", "c1", amount=5), call("look", "c2", at="x")))
        state = await run(graph, headless=True)
    else:
        state = await graph.ainvoke(TASK)
    told = {identifier: (status, text) for identifier, status, text in results(state)}
    assert told["c1"][0] == "error"
    assert "Its risk is high" in told["c1"][1]
    assert desk.log == [("look", "x")]
    assert state["status"] == "finished"


async def test_the_person_waits_for_days_and_answers_in_another_process(desk, tmp_path):
    def graph(saver):
        return clerk(desk, [calling(call("pay", "c1", amount=5)), "Done."], saver, Settings(home=tmp_path), "risky")

    async with open_saver(tmp_path / "threads.db") as saver:
        await run(graph(saver))
    async with open_saver(tmp_path / "threads.db") as saver:
        state = await graph(saver).aget_state(THREAD)
        assert state.interrupts[0].value["data"]["calls"][0]["args"] == {"amount": 5}
        state = await answer(graph(saver), {"edit": {"amount": 3}})
    assert desk.log == [("pay", 3, "shop")]


class Crash(BaseException):
    """Ends the run as a kill would: nothing after it is written."""


async def test_a_crash_between_the_approval_and_the_call_does_not_ask_again(agent, desk, saver):
    @tool
    def pay(amount: int) -> str:
        """Pay."""
        desk.log.append(("pay", amount))
        if len(desk.log) == 1:
            raise Crash
        return "paid"

    pay.metadata = Traits(risk="high", idempotent=True).metadata()
    desk.tools[1] = pay
    graph = agent(calling(call("pay", "c1", amount=500)))
    await run(graph)
    with pytest.raises(Crash):
        await answer(graph, {"edit": {"amount": 5}})
    state = await run(graph, None)
    assert desk.log == [("pay", 5), ("pay", 5)]
    assert state["status"] == "finished"


async def test_a_crash_before_the_decision_is_saved_as_a_step_does_not_ask_again(agent, desk, saver):
    dying, whole = [], saver.aput

    async def aput(*arguments):
        if dying:
            raise Crash
        return await whole(*arguments)

    saver.aput = aput
    graph = agent(calling(call("pay", "c1", amount=5)))
    await run(graph)
    dying.append("now")
    with pytest.raises(Crash):
        await answer(graph, "approve")
    dying.clear()
    assert desk.log == []
    state = await run(graph, None)
    assert desk.log == [("pay", 5, "shop")]
    assert state["status"] == "finished"


async def test_the_model_is_asked_once_however_often_the_person_is(desk, saver, tmp_path):
    requests = []

    def reply(messages, tools):
        requests.append(messages)
        return "Done." if messages[-1].type == "tool" else calling(call("pay", "c1", amount=5))

    graph = clerk(desk, reply, saver, Settings(home=tmp_path), "risky")
    await run(graph)
    for _ in range(3):
        await answer(graph, "perhaps")
    await answer(graph, "approve")
    assert len(requests) == 2


def children(desk, replies, confirm, saver, tmp_path, **options):
    """A clerk whose delegate, the buyer, has the same desk."""
    settings = Settings(home=tmp_path)
    buyer = clerk(desk, replies, None, settings, confirm, name="buyer")
    spec = AgentSpec(name="boss", tools=["delegate"], delegates=["buyer"])
    tasks = [calling(call("delegate", f"d{n}", agent="buyer", task=f"buy {n}")) for n in range(2)]
    return create_agent(
        spec,
        model=ScriptedModel(replies=[*tasks, "Bought."]),
        agents={"buyer": buyer},
        checkpointer=saver,
        settings=settings,
        **options,
    )


async def test_a_delegate_asks_under_its_own_path_and_what_it_was_allowed_holds_for_the_next_one(desk, saver, tmp_path):
    graph = children(desk, [calling(call("pay", amount=5)), "Done."], "risky", saver, tmp_path)
    asked = question(await run(graph))
    assert asked["path"] == ["boss", "buyer"]
    state = await answer(graph, "approve_kind")
    assert state["outcome"].answer == "Bought."
    assert [amount for _, amount, _ in desk.log] == [5, 5]
    assert state["progress"]["approved"] == ["pay (high risk)"]


async def test_a_delegate_inherits_the_policy_of_the_run(desk, saver, tmp_path):
    graph = children(desk, [calling(call("look", at="x")), "Done."], None, saver, tmp_path)
    asked = question(await run(graph, confirm="always"))
    assert asked["data"]["calls"][0]["name"] == "delegate"
    asked = question(await run(graph, Command(resume="approve"), confirm="always"))
    assert (asked["path"], asked["data"]["calls"][0]["name"]) == (["boss", "buyer"], "look")


async def test_a_delegate_inherits_the_policy_that_the_graph_was_made_with(saver, tmp_path):
    graph = create_agent(
        AgentSpec(name="boss", tools=["delegate"], delegates=["manus"]),
        model=ScriptedModel(reply=boss_or_child),
        checkpointer=saver,
        settings=Settings(home=tmp_path),
        confirm=lambda call, risk: call["name"] == "str_replace_editor",
    )
    asked = question(await run(graph))
    assert (asked["path"], asked["data"]["calls"][0]["name"]) == (["boss", "manus"], "str_replace_editor")


def boss_or_child(messages, tools):
    if messages[-1].type == "tool":
        return "Done."
    if "delegate" in {each["function"]["name"] for each in tools}:
        return calling(call("delegate", "d1", agent="manus", task="look"))
    return calling(call("str_replace_editor", "c1", command="view", path="."))
