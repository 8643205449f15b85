"""A line a step, and bytes a thread."""

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from clew.checkpoints.history import disk_usage, thread_history
from clew.checkpoints.open import open_saver
from clew.state.agent import AgentState
from clew.state.errors import ThreadUnreadable

CONFIG = {"configurable": {"thread_id": "t"}, "metadata": {"run_id": "r"}}


def agent(saver):
    async def think(state):
        usage = {"input_tokens": 70, "output_tokens": 30, "total_tokens": 100}
        return {"messages": [AIMessage("I look", id="a", usage_metadata=usage)]}

    async def act(call):
        return {"messages": [ToolMessage("done", name=call["name"], tool_call_id=call["id"], id=call["id"])]}

    async def calls(state):
        return [Send("act", {"name": name, "id": name}) for name in ("bash", "browser")]

    builder = StateGraph(AgentState)
    builder.add_node("think", think)
    builder.add_node("act", act)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", calls, ["act"])
    builder.add_edge("act", END)
    return builder.compile(checkpointer=saver)


async def test_each_step_tells_its_nodes_tools_tokens_time_and_size(saver):
    await agent(saver).ainvoke({"messages": [HumanMessage("go", id="h")]}, CONFIG, durability="sync")
    act, think, start, first = await thread_history(saver, "t")
    assert [step.step for step in (first, start, think, act)] == [-1, 0, 1, 2]
    assert (first.source, first.parent, first.seconds, first.nodes) == ("input", None, None, ())
    assert (think.nodes, think.tools, think.tokens) == (("think",), (), 100)
    assert (set(act.nodes), set(act.tools), act.tokens) == ({"act"}, {"bash", "browser"}, 0)
    assert (act.parent, think.parent) == (think.checkpoint, start.checkpoint)
    assert act.seconds == (act.created - think.created).total_seconds()
    assert think.size > act.size > 0
    assert {step.run_id for step in (start, think, act)} == {"r"}
    assert await thread_history(saver, "unknown") == []


async def test_usage_counts_every_byte_of_a_thread_and_of_no_other(saver):
    for thread, text in (("small", "x"), ("large", "x" * 10_000)):
        config = {"configurable": {"thread_id": thread}}
        await agent(saver).ainvoke({"messages": [HumanMessage(text, id="h")]}, config, durability="sync")
    await saver.blobs.put("small", b"p" * 500)
    large, small = await disk_usage(saver)
    assert (large.thread, small.thread) == ("large", "small")
    assert small.checkpoints == large.checkpoints == len(await thread_history(saver, "small"))
    assert 10_000 <= large.state - small.state < 25_000
    assert (small.payloads, large.payloads) == (500, 0)


async def test_pruning_and_compacting_give_the_space_back(tmp_path):
    path = tmp_path / "clew.db"
    async with open_saver(path) as saver:
        for thread in range(30):
            config = {"configurable": {"thread_id": str(thread)}}
            await agent(saver).ainvoke({"messages": [HumanMessage("x" * 10_000, id="h")]}, config, durability="sync")
        await saver.aprune([str(thread) for thread in range(30)])
        await saver.acompact()
        pruned = path.stat().st_size
        await saver.aprune([str(thread) for thread in range(30)], strategy="delete")
        await saver.acompact()
    assert path.stat().st_size < pruned / 4


async def test_a_limit_reads_no_more_than_it_needs(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        for run in "abc":
            config = {**CONFIG, "metadata": {"run_id": run}}
            await agent(saver).ainvoke({"messages": [HumanMessage("go", id=run)]}, config, durability="sync")
        whole = await thread_history(saver, "t")
        assert len(whole) == 12
        for limit in (1, 5, 11, 12, 13):
            assert await thread_history(saver, "t", limit) == whole[:limit]
        spoil = "UPDATE checkpoints SET checkpoint = x'c1' WHERE checkpoint_id < ?"
        await saver.database.write((spoil, (whole[3].checkpoint,)))
        assert await thread_history(saver, "t", 3) == whole[:3]
        with pytest.raises(ThreadUnreadable, match="thread t holds a value that is damaged"):
            await thread_history(saver, "t", 4)


async def test_a_fork_beyond_the_limit_still_tells_what_it_came_from(saver):
    graph = agent(saver)
    await graph.ainvoke({"messages": [HumanMessage("go", id="h")]}, CONFIG, durability="sync")
    oldest = (await thread_history(saver, "t"))[-2]
    place = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": oldest.checkpoint}}
    await graph.aupdate_state(place, None, as_node="__copy__")
    [fork] = await thread_history(saver, "t", 1)
    assert fork == (await thread_history(saver, "t"))[0]
    assert (fork.source, fork.seconds is None) == ("fork", False)


async def test_graphs_in_nodes_are_counted_in_the_step_that_ran_them(saver):
    inner = agent(None)

    async def first(state):
        usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
        return {"messages": [AIMessage("then", id="i", usage_metadata=usage)]}

    builder = StateGraph(AgentState)
    builder.add_node("first", first)
    builder.add_node("part", inner)
    builder.add_edge(START, "first")
    builder.add_edge("first", "part")
    builder.add_edge("part", END)
    graph = builder.compile(checkpointer=saver)
    await graph.ainvoke({"messages": [HumanMessage("x" * 5_000, id="h")]}, CONFIG, durability="sync")
    part, first, start, begun = await thread_history(saver, "t")
    assert (part.nodes, set(part.tools), part.tokens) == (("part",), {"bash", "browser"}, 100)
    assert (first.nodes, first.tools, first.tokens) == (("first",), (), 10)
    [usage] = await disk_usage(saver)
    assert usage.checkpoints == 8
    assert sum(step.size for step in (part, first, start, begun)) == usage.state
    assert await thread_history(saver, "t", 1) == [part]


async def test_payloads_of_all_threads_are_asked_for_once(tmp_path):
    asked = []
    async with open_saver(tmp_path / "clew.db") as saver:
        for number in range(5):
            config = {"configurable": {"thread_id": f"t{number}"}}
            await agent(saver).ainvoke({"messages": [HumanMessage("go", id="h")]}, config, durability="sync")
            await saver.blobs.put(f"t{number}", b"shared" + b"p" * 100 * (number % 2))
        saver._blob_file.run(lambda connection: connection.set_trace_callback(asked.append))
        sizes = {size.thread: size.payloads for size in await disk_usage(saver)}
    assert sizes == {"t0": 6, "t1": 106, "t2": 6, "t3": 106, "t4": 6}
    assert len(asked) == 1
