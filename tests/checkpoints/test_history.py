"""A line a step, and bytes a thread."""

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from clew.checkpoints.history import disk_usage, thread_history
from clew.checkpoints.open import open_saver
from clew.state.agent import AgentState

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
