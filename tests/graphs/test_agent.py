"""The agent graph, from the task to its end."""

import asyncio
import stat

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from clew.graphs import AGENTS, AgentSpec, RunContext, continue_task, create_agent
from clew.models.script import ScriptedReply
from clew.models.scripted import ScriptedModel
from clew.state.errors import UsageError
from clew.state.settings import Settings
from clew.tools.catalog import build_tools


def say(name, **args):
    return {"tool_calls": [{"name": name, "args": args}]}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail(reason: str) -> str:
    """Fail."""
    raise ToolException(reason)


@pytest.fixture
def agent(tmp_path):
    """Make an agent whose model says `replies`."""

    def make(*replies, tools=(add, fail), checkpointer=None, **fields):
        own = [*tools, *build_tools(["terminate", "ask_human"])]
        fields = {"name": "tester", "tools": [each.name for each in own], **fields}
        settings = Settings(home=tmp_path)
        model = ScriptedModel(replies=list(replies))
        return create_agent(AgentSpec(**fields), model=model, tools=own, checkpointer=checkpointer, settings=settings)

    return make


TASK = {"messages": [("user", "add 1 and 2")]}
THREAD = {"configurable": {"thread_id": "t"}}


def texts(state, kind):
    return [message.text for message in state["messages"] if message.type == kind]


async def test_a_task_goes_through_think_act_and_terminate(agent):
    state = await agent(say("add", a=1, b=2), say("terminate", status="success", answer="3")).ainvoke(TASK)
    assert [message.type for message in state["messages"]] == ["human", "ai", "tool", "ai", "tool"]
    assert texts(state, "tool")[0] == "3"
    assert (state["status"], state["outcome"].success, state["outcome"].answer) == ("finished", True, "3")
    assert state["progress"]["steps"] == 2


async def test_a_plain_answer_ends_the_run_with_that_answer(agent):
    state = await agent("It is 3.").ainvoke(TASK)
    assert (state["status"], state["outcome"].reason, state["outcome"].answer) == ("finished", "answer", "It is 3.")


async def test_failure_is_finished_without_success(agent):
    state = await agent(say("terminate", status="failure", answer="no way")).ainvoke(TASK)
    assert (state["status"], state["outcome"].success) == ("finished", False)


async def test_calls_that_may_run_together_do_and_each_result_goes_with_its_call(agent):
    meeting = asyncio.Barrier(3)

    @tool
    async def meet(name: str) -> str:
        """Wait until three of us are here."""
        async with asyncio.timeout(20):
            await meeting.wait()
        return name

    calls = {"tool_calls": [{"name": "meet", "args": {"name": n}, "id": n} for n in "abc"]}
    state = await agent(calls, "done", tools=[meet]).ainvoke(TASK)
    results = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert [(result.tool_call_id, result.text) for result in results] == [("a", "a"), ("b", "b"), ("c", "c")]


async def test_calls_that_may_not_run_together_run_in_the_order_given(agent):
    running, order = [], []

    @tool
    async def exclusive(name: str) -> str:
        """Be alone."""
        running.append(name)
        await asyncio.sleep(0.01)
        assert running == [name]
        running.remove(name)
        order.append(name)
        return name

    exclusive.metadata = {"parallel": False}
    calls = {"tool_calls": [{"name": "exclusive", "args": {"name": n}} for n in "abc"]}
    state = await agent(calls, "done", tools=[exclusive]).ainvoke(TASK)
    assert order == ["a", "b", "c"]
    assert texts(state, "tool") == order
    assert state["progress"]["steps"] == 2


async def test_calls_after_a_terminating_one_are_not_run(agent):
    ran = []

    @tool
    def leave_a_trace(name: str) -> str:
        """Do something."""
        ran.append(name)
        return name

    calls = [
        {"name": "leave_a_trace", "args": {"name": "before"}},
        {"name": "terminate", "args": {"status": "success", "answer": "bye"}},
        {"name": "leave_a_trace", "args": {"name": "after"}},
    ]
    state = await agent({"tool_calls": calls}, tools=[leave_a_trace]).ainvoke(TASK)
    assert ran == ["before"]
    assert state["outcome"].answer == "bye"
    assert "Not run" in texts(state, "tool")[-1]


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ({"name": "unknown", "args": {}}, "there is no tool `unknown`. The tools are: add, fail"),
        ({"name": "add", "args": {"a": 1}}, "b: Field required. It takes: a, b."),
        ({"name": "add", "args": "{not json"}, "not valid JSON"),
        ({"name": "fail", "args": {"reason": "out of paper"}}, "Error: out of paper"),
    ],
)
async def test_a_call_that_fails_is_an_observation_and_the_run_goes_on(agent, call, hint):
    state = await agent({"tool_calls": [call]}, "I see.").ainvoke(TASK)
    (result,) = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert hint in result.text
    assert result.status == "error"
    assert state["status"] == "finished"


async def test_a_tool_that_takes_too_long_is_stopped(agent):
    stopped = asyncio.Event()

    @tool
    async def sleep() -> str:
        """Sleep."""
        try:
            await asyncio.sleep(60)
        finally:
            stopped.set()
        return "late"

    state = await agent(say("sleep"), "I see.", tools=[sleep], tool_timeout=0.05).ainvoke(TASK)
    assert "did not end within 0.05 seconds" in texts(state, "tool")[0]
    assert stopped.is_set()


async def test_an_exception_in_a_tool_is_an_observation_without_a_traceback(agent):
    @tool
    def broken() -> str:
        """Break."""
        raise RuntimeError("wires crossed")

    state = await agent(say("broken"), "I see.", tools=[broken]).ainvoke(TASK)
    assert texts(state, "tool") == ["Error: `broken` failed: RuntimeError: wires crossed"]


async def test_long_output_is_cut_in_the_middle_and_kept_whole_in_the_workspace(agent, tmp_path):
    @tool
    def talk() -> str:
        """Talk."""
        return "a" * 5000 + "b" * 5000

    graph = agent(say("talk"), "I see.", tools=[talk], max_observe=200)
    state = await graph.ainvoke(TASK, context=RunContext(workspace=str(tmp_path / "files")))
    (shown,) = texts(state, "tool")
    assert len(shown) < 400
    assert "9800 characters left out" in shown
    (kept,) = (tmp_path / "files/.clew/outputs").iterdir()
    assert str(kept.relative_to(tmp_path / "files")) in shown
    assert kept.read_text() == "a" * 5000 + "b" * 5000
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


async def test_repeated_call_ids_are_made_unique_before_they_are_stored(agent):
    same = {"tool_calls": [{"name": "add", "args": {"a": 1, "b": n}, "id": "same"} for n in (1, 2)]}
    state = await agent(same, same, "done").ainvoke(TASK)
    calls = [
        call["id"] for message in state["messages"] if isinstance(message, AIMessage) for call in message.tool_calls
    ]
    answers = [message.tool_call_id for message in state["messages"] if isinstance(message, ToolMessage)]
    assert len(set(calls)) == 4
    assert answers == calls


async def test_the_next_step_prompt_is_sent_and_not_stored(agent):
    seen = []

    def reply(messages, tools):
        seen.append([message.text for message in messages])
        return say("add", a=1, b=2) if len(seen) == 1 else "done"

    graph = create_agent(
        AgentSpec(name="tester", system_prompt="You add.", next_step_prompt="What now?", tools=["add"]),
        model=ScriptedModel(reply=reply),
        tools=[add],
        settings=Settings(),
    )
    state = await graph.ainvoke(TASK)
    assert [request[0] for request in seen] == ["You add."] * 2
    assert [request[-1] for request in seen] == ["What now?"] * 2
    assert "What now?" not in texts(state, "human")


async def test_an_empty_reply_is_objected_to_and_costs_a_step(agent):
    state = await agent("", "It is 3.").ainvoke(TASK)
    assert texts(state, "ai") == ["(empty reply)", "It is 3."]
    assert "Your reply was empty" in texts(state, "human")[1]
    assert state["progress"]["steps"] == 2


async def test_with_tool_choice_required_a_text_alone_is_objected_to(agent):
    state = await agent("I think.", say("terminate", status="success", answer="ok"), tool_choice="required").ainvoke(
        TASK
    )
    assert "Call one of: add, fail, terminate, ask_human" in texts(state, "human")[1]
    assert state["outcome"].answer == "ok"


async def test_with_tool_choice_none_no_tools_are_sent_and_none_run(agent):
    offered = []

    def reply(messages, tools):
        offered.append(tools)
        return say("add", a=1, b=2) if len(offered) == 1 else "done"

    graph = create_agent(
        AgentSpec(name="tester", tools=["add"], tool_choice="none"),
        model=ScriptedModel(reply=reply),
        tools=[add],
        settings=Settings(),
    )
    state = await graph.ainvoke(TASK)
    assert offered == [[], []]
    assert "there is no tool `add`" in texts(state, "tool")[0]


async def test_a_loop_gets_one_nudge_and_the_second_ends_the_run(agent):
    requests = []

    def reply(messages, tools):
        requests.append(messages[-1].text)
        return say("add", a=1, b=2)

    graph = create_agent(
        AgentSpec(name="tester", next_step_prompt="What now?", tools=["add"]),
        model=ScriptedModel(reply=reply),
        tools=[add],
        settings=Settings(),
    )
    state = await graph.ainvoke(TASK)
    assert (state["status"], state["outcome"].reason) == ("stuck", "repeated_action")
    assert state["progress"]["steps"] == 8
    assert [request.startswith("You are repeating yourself") for request in requests] == [False] * 4 + [True] * 4


async def test_being_stuck_goes_before_the_limit(agent):
    state = await agent(*[say("add", a=1, b=2)] * 8, max_steps=8).ainvoke(TASK)
    assert state["status"] == "stuck"


async def test_without_a_thread_the_limit_ends_the_run(agent):
    state = await agent(*[say("add", a=1, b=n) for n in range(3)], max_steps=3).ainvoke(TASK)
    assert (state["status"], state["outcome"].success, state["outcome"].reason) == ("limit", False, "max_steps")
    assert len(texts(state, "tool")) == 3


async def test_finishing_on_the_last_step_is_finishing(agent):
    state = await agent(say("add", a=1, b=2), "3", max_steps=2).ainvoke(TASK)
    assert state["status"] == "finished"


async def test_a_person_may_raise_the_limit(agent):
    graph = agent(*[say("add", a=1, b=n) for n in range(3)], "done", max_steps=2, checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD, durability="sync")
    (asked,) = state["__interrupt__"]
    assert (asked.value["kind"], asked.value["data"], asked.value["path"]) == (
        "limit",
        {"steps": 2, "max_steps": 2},
        ["tester"],
    )
    state = await graph.ainvoke(Command(resume={"max_steps": 5}), THREAD)
    assert (state["status"], state["progress"]["steps"]) == ("finished", 4)


async def test_a_person_may_stop_at_the_limit(agent):
    graph = agent(*[say("add", a=1, b=n) for n in range(3)], max_steps=2, checkpointer=InMemorySaver())
    await graph.ainvoke(TASK, THREAD)
    assert (await graph.ainvoke(Command(resume="stop"), THREAD))["status"] == "limit"


async def test_a_headless_run_ends_at_the_limit_and_can_be_continued_with_a_higher_one(agent):
    graph = agent(*[say("add", a=1, b=n) for n in range(3)], "done", max_steps=2, checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(headless=True))
    assert state["status"] == "limit"
    state = await graph.ainvoke(continue_task(state), THREAD, context=RunContext(headless=True, max_steps=9))
    assert (state["status"], state["progress"]["steps"]) == ("finished", 4)


async def test_a_question_to_a_person_waits_and_its_answer_is_the_result(agent):
    graph = agent(say("ask_human", inquire="Which?"), "Thanks.", checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD)
    assert (state["__interrupt__"][0].value["kind"], state["__interrupt__"][0].value["question"]) == ("input", "Which?")
    assert state["__interrupt__"][0].value["path"] == ["tester"]
    state = await graph.ainvoke(Command(resume="the red one"), THREAD)
    assert texts(state, "tool") == ["the red one"]


async def test_a_new_message_on_an_ended_thread_is_a_new_task_with_the_old_history(agent):
    graph = agent(say("add", a=1, b=2), "3", say("add", a=2, b=2), "4", checkpointer=InMemorySaver(), max_steps=2)
    await graph.ainvoke(TASK, THREAD)
    state = await graph.ainvoke({"messages": [("user", "add 2 and 2")]}, THREAD)
    assert (state["outcome"].answer, state["progress"]["steps"]) == ("4", 2)
    assert texts(state, "human") == ["add 1 and 2", "add 2 and 2"]
    assert state["messages"][state["progress"]["task"]].text == "add 2 and 2"


async def test_a_new_message_while_a_question_waits_is_a_new_task_and_the_call_gets_an_answer(agent):
    requests = []

    def reply(messages, tools):
        requests.append(messages)
        return say("ask_human", inquire="Which?") if len(requests) == 1 else "done"

    graph = create_agent(
        AgentSpec(name="tester", tools=["ask_human"]),
        model=ScriptedModel(reply=reply),
        checkpointer=InMemorySaver(),
        settings=Settings(),
    )
    await graph.ainvoke(TASK, THREAD)
    state = await graph.ainvoke({"messages": [("user", "never mind, add 2 and 2")]}, THREAD)
    assert state["status"] == "finished"
    assert [message.type for message in requests[1]] == ["human", "ai", "tool", "human"]


async def test_a_model_error_ends_the_run_with_its_sentence_and_the_task_can_be_taken_up_again(agent):
    error = {"error": {"status": 401, "message": "bad key", "times": 1}}
    graph = agent(error, "done", checkpointer=InMemorySaver())
    state = await graph.ainvoke(TASK, THREAD)
    assert (state["status"], state["outcome"].success) == ("error", False)
    assert "bad key" in state["outcome"].reason
    state = await graph.ainvoke(continue_task(state), THREAD)
    assert (state["status"], state["outcome"].answer) == ("finished", "done")


async def test_tokens_and_cost_are_counted(agent, tmp_path):
    usage = {"input_tokens": 100, "output_tokens": 10, "cached_tokens": 60}
    graph = create_agent(
        AgentSpec(name="tester", tools=["add"]),
        model=ScriptedModel(
            replies=[
                ScriptedReply.model_validate({**say("add", a=1, b=2), "usage": usage}),
                ScriptedReply.model_validate({"content": "3", "usage": usage}),
            ]
        ),
        tools=[add],
        settings=Settings(prices={"scripted": {"input": 10, "cached_input": 1, "output": 100}}),
    )
    used = (await graph.ainvoke(TASK))["progress"]["usage"]
    assert (used["llm_calls"], used["input_tokens"], used["cached_tokens"], used["output_tokens"]) == (2, 200, 120, 20)
    assert used["cost"] == pytest.approx((80 * 10 + 120 * 1 + 20 * 100) / 1_000_000)


async def test_an_agent_is_a_node_of_another_graph(agent):
    outer = StateGraph(MessagesState).add_node("agent", agent("It is 3."))
    outer.add_edge(START, "agent").add_edge("agent", END)
    state = await outer.compile().ainvoke({"messages": [HumanMessage("add 1 and 2")]})
    assert [message.text for message in state["messages"]] == ["add 1 and 2", "It is 3."]


async def test_an_agent_is_a_tool_of_another_agent(agent):
    inner = agent("It is 3.")

    @tool
    async def ask_adder(question: str) -> str:
        """Ask the adder."""
        return (await inner.ainvoke({"messages": [("user", question)]}))["outcome"].answer

    state = await agent(say("ask_adder", question="1+2?"), "done", tools=[ask_adder]).ainvoke(TASK)
    assert texts(state, "tool") == ["It is 3."]


def test_sync_calls_run_the_same_graph(agent):
    graph = agent(say("add", a=1, b=2), "It is 3.", checkpointer=InMemorySaver())
    assert graph.invoke(TASK, THREAD)["outcome"].answer == "It is 3."
    nodes = [next(iter(update)) for update in graph.stream(TASK, {"configurable": {"thread_id": "u"}})]
    assert nodes == ["think", "act", "think", "terminate"]
    states = graph.batch([TASK] * 3, [{"configurable": {"thread_id": f"b{n}"}} for n in range(3)])
    assert [state["status"] for state in states] == ["finished"] * 3


async def test_no_superstep_limit_ends_a_long_run_in_a_batch_or_in_a_chain(agent):
    steps = [say("add", a=1, b=n) for n in range(14)]
    graph = agent(*steps, "done")
    states = await graph.abatch([TASK] * 2)
    states.append(await (RunnableLambda(lambda task: task) | graph).ainvoke(TASK))
    assert [(state["status"], state["progress"]["steps"]) for state in states] == [("finished", 15)] * 3


async def test_a_recursion_limit_that_a_caller_chose_holds(agent):
    with pytest.raises(GraphRecursionError):
        await agent(*[say("add", a=1, b=n) for n in range(9)]).ainvoke(TASK, {"recursion_limit": 7})


def test_a_sync_call_waits_for_a_person_too(agent):
    graph = agent(say("ask_human", inquire="Which?"), "Thanks.", checkpointer=InMemorySaver())
    assert graph.invoke(TASK, THREAD)["__interrupt__"][0].value["question"] == "Which?"
    assert texts(graph.invoke(Command(resume="red"), THREAD), "tool") == ["red"]


async def test_tokens_are_streamed_as_they_come(agent):
    parts = [
        chunk.text
        async for chunk, _ in agent("It is three, I think.").astream(TASK, stream_mode="messages")
        if chunk.type == "AIMessageChunk"
    ]
    assert "".join(parts) == "It is three, I think."
    assert len(parts) > 1


def test_the_drawing_shows_every_way_that_a_run_can_take(agent):
    drawing = agent().get_graph()
    edges = {(edge.source, edge.target) for edge in drawing.edges}
    assert edges == {
        ("__start__", "think"),
        ("__start__", "gate"),
        ("think", "gate"),
        ("think", "assess"),
        ("assess", "confirm"),
        ("assess", "act"),
        ("confirm", "act"),
        ("confirm", "check_stuck"),
        ("think", "act"),
        ("think", "check_stuck"),
        ("think", "terminate"),
        ("act", "think"),
        ("act", "check_stuck"),
        ("check_stuck", "act"),
        ("check_stuck", "think"),
        ("check_stuck", "gate"),
        ("check_stuck", "terminate"),
        ("gate", "think"),
        ("gate", "terminate"),
        ("terminate", "__end__"),
    }


def test_an_unknown_agent_is_a_sentence_that_names_the_others():
    with pytest.raises(UsageError, match=r"no agent 'manos'; did you mean 'manus'\?"):
        create_agent("manos")


def test_the_seed_s_limits_are_the_defaults():
    assert AgentSpec(name="bare").max_steps == 10
    assert AgentSpec(name="tool_calling", tools=["bash"]).max_steps == 30
    assert AGENTS["manus"].max_steps == 20
    assert AGENTS["manus"].tools == ("python_execute", "bash", "str_replace_editor", "ask_human", "terminate")
