"""A step costs the same whether it is the tenth or the thousandth, and a long thread is rebuilt quickly."""

import time

from labyrinth import say, task
from langgraph.graph import END, START, StateGraph

from clew.checkpoints.open import open_saver
from clew.state.agent import AgentState

FREQUENT = 10 * 1000
"""Recursion limit of the runs here."""


def loop(saver, steps):
    async def think(state):
        return {"messages": [say("I look at the next file. " * 8)], "progress": {"n": state["progress"]["n"] + 1}}

    async def act(state):
        return {"messages": [say("x" * 440)]}

    async def route(state):
        return "think" if state["progress"]["n"] < steps else END

    builder = StateGraph(AgentState)
    builder.add_node("think", think)
    builder.add_node("act", act)
    builder.add_edge(START, "think")
    builder.add_edge("think", "act")
    builder.add_conditional_edges("act", route, ["think", END])
    return builder.compile(checkpointer=saver)


async def walk(folder, steps):
    """Run so many steps on a new database; its bytes, and the CPU seconds that rebuilding the state takes."""
    path = folder / f"{steps}.db"
    config = {"configurable": {"thread_id": "t"}, "recursion_limit": FREQUENT}
    async with open_saver(path) as saver:
        graph = loop(saver, steps)
        await graph.ainvoke({**task(), "progress": {"n": 0}}, config, durability="sync")
        rebuilding = []
        for _ in range(3):
            started = time.process_time()
            state = await graph.aget_state(config)
            rebuilding.append(time.process_time() - started)
        assert len(state.values["messages"]) == 1 + 2 * steps
    return path.stat().st_size, min(rebuilding)


async def test_the_file_grows_by_the_step_and_not_by_the_history(tmp_path):
    sizes = {steps: (await walk(tmp_path, steps))[0] for steps in (30, 300)}
    assert sizes[300] / 300 <= 1.3 * sizes[30] / 30


async def test_full_copies_of_the_history_come_as_it_doubles_so_that_the_file_grows_linearly(tmp_path):
    path, copies, steps = tmp_path / "long.db", [], 2200
    async with open_saver(path) as saver:
        config = {"configurable": {"thread_id": "t"}, "recursion_limit": FREQUENT}
        await loop(saver, steps).ainvoke({**task(), "progress": {"n": 0}}, config, durability="sync")
        async for checkpoint in saver.alist(config):
            copy = checkpoint.checkpoint["channel_values"].get("messages")
            copies += [len(copy.value)] if copy else []
    assert copies == [3999, 2000, 1000]


async def test_a_message_of_a_long_thread_is_rebuilt_as_quickly_as_one_of_a_short_thread(tmp_path):
    short = (await walk(tmp_path, 10))[1] / 10
    long = (await walk(tmp_path, 1000))[1] / 1000
    assert long < 10 * short
