"""Nothing that a delta channel holds is lost: not by forks, replays, edits, removals, interrupts or subgraphs."""

import asyncio

import pytest
from labyrinth import build, say, task, texts
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from clew.state.errors import UsageError

DURABILITIES = ["sync", "async", "exit"]


def on(thread, **more):
    return {"configurable": {"thread_id": thread, **more}}


async def run(graph, thread, durability="sync", run_id="first"):
    """Run to the end, answering the question on the way."""
    config = {**on(thread), "metadata": {"run_id": run_id}}
    stopped = await graph.ainvoke(task(), config, durability=durability)
    assert [question.value for question in stopped["__interrupt__"]] == ["which way?"]
    return await graph.ainvoke(Command(resume="left"), config, durability=durability)


async def history(graph, thread):
    return {
        state.config["configurable"]["checkpoint_id"]: (texts(state.values) if state.values else [], state.next)
        async for state in graph.aget_state_history(on(thread))
    }


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_a_run_ends_as_it_does_in_memory(graph, durability):
    expected = texts(await run(build(InMemorySaver()), "t"))
    assert texts(await run(graph, "t", durability)) == expected
    state = await graph.aget_state(on("t"))
    assert texts(state.values) == expected
    assert len(expected) == 7
    assert state.next == ()


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_every_step_of_the_history_can_be_rebuilt(graph, durability):
    memory = build(InMemorySaver())
    await run(memory, "t", durability)
    await run(graph, "t", durability)
    assert list((await history(graph, "t")).values()) == list((await history(memory, "t")).values())


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_an_interrupt_in_a_subgraph_is_seen_and_answered(graph, durability):
    await graph.ainvoke(task(), on("t"), durability=durability)
    state = await graph.aget_state(on("t"), subgraphs=True)
    assert state.next == ("child",)
    inner = state.tasks[0].state
    assert inner.next == ("ask",)
    assert texts(inner.values)[-1] == "turn 3"
    result = await graph.ainvoke(Command(resume="right"), on("t"), durability=durability)
    assert "answer right" in texts(result)[:4]


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_a_fork_goes_its_own_way_and_leaves_the_first_way_alone(graph, durability):
    await run(graph, "t")
    before = await history(graph, "t")
    start = next(key for key, (_, following) in reversed(before.items()) if following == ("remove",))
    forked = await graph.aupdate_state(on("t", checkpoint_id=start), {"messages": [say("a note")]}, as_node="append")
    result = await graph.ainvoke(None, {**forked, "metadata": {"run_id": "fork"}}, durability=durability)
    assert "__interrupt__" in result
    state = await graph.aget_state(on("t"))
    assert "a note" in texts(state.values)
    after = await history(graph, "t")
    assert {key: after[key] for key in before} == before


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_a_replay_from_a_checkpoint_comes_to_the_same_end(graph, durability):
    expected = await run(graph, "t")
    start = next(key for key, (_, following) in (await history(graph, "t")).items() if following == ("overwrite",))
    again = await graph.ainvoke(None, on("t", checkpoint_id=start), durability=durability)
    assert texts(again) == texts(expected)


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_a_second_task_goes_on_from_the_first(graph, durability):
    first = texts(await run(graph, "t", durability))
    await graph.ainvoke({"messages": [say("more")], "turn": 7}, on("t"), durability=durability)
    assert texts((await graph.aget_state(on("t"))).values) == [*first, "more", "turn 7", "left", "right"]


@pytest.mark.parametrize("durability", DURABILITIES)
@pytest.mark.parametrize("newest", [1, 3])
async def test_a_pruned_thread_keeps_its_state_and_goes_on(saver, graph, durability, newest):
    await run(graph, "t", durability)
    before = await history(graph, "t")
    await saver.aprune(["t"], newest=newest)
    after = await history(graph, "t")
    assert after == dict(list(before.items())[:newest])
    last = texts((await graph.aget_state(on("t"))).values)
    assert last == next(iter(before.values()))[0]
    await graph.ainvoke({"messages": [say("more")], "turn": 7}, on("t"), durability=durability)
    assert texts((await graph.aget_state(on("t"))).values) == [*last, "more", "turn 7", "left", "right"]


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_a_thread_that_waits_can_be_pruned_and_then_answered(saver, graph, durability):
    expected = texts(await run(graph, "other"))
    await graph.ainvoke(task(), on("t"), durability=durability)
    await saver.aprune(["t"])
    state = await graph.aget_state(on("t"), subgraphs=True)
    assert [question.value for question in state.interrupts] == ["which way?"]
    assert texts(await graph.ainvoke(Command(resume="left"), on("t"), durability=durability)) == expected


async def test_pruning_drops_the_checkpoints_of_finished_calls(saver, graph):
    await run(graph, "t")
    inner = [found async for found in saver.alist(on("t")) if found.config["configurable"]["checkpoint_ns"]]
    assert len(inner) > 1
    await saver.aprune(["t"])
    assert [found.config["configurable"]["checkpoint_ns"] async for found in saver.alist(on("t"))] == [""]


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_deleting_an_early_run_keeps_what_later_runs_built_on_it(saver, graph, durability):
    await run(graph, "t", durability, run_id="early")
    config = {**on("t"), "metadata": {"run_id": "late"}}
    await graph.ainvoke({"messages": [say("more")], "turn": 7}, config, durability=durability)
    before = await history(graph, "t")
    late = {
        found.config["configurable"]["checkpoint_id"] async for found in saver.alist(on("t"), filter={"run_id": "late"})
    }
    await saver.adelete_for_runs(["early"])
    assert await history(graph, "t") == {key: value for key, value in before.items() if key in late}


@pytest.mark.parametrize("durability", DURABILITIES)
async def test_deleting_the_last_run_brings_the_state_before_it_back(saver, graph, durability):
    before = texts(await run(graph, "t", durability, run_id="early"))
    config = {**on("t"), "metadata": {"run_id": "late"}}
    await graph.ainvoke({"messages": [say("more")], "turn": 7}, config, durability=durability)
    await saver.adelete_for_runs(["late"])
    state = await graph.aget_state(on("t"))
    assert (texts(state.values), state.next, state.tasks) == (before, (), ())
    await graph.ainvoke({"messages": [say("again")], "turn": 7}, on("t"), durability=durability)
    assert texts((await graph.aget_state(on("t"))).values) == [*before, "again", "turn 7", "left", "right"]


async def test_a_thread_is_not_copied_onto_another_that_stays_as_it_was(saver, graph):
    await run(graph, "t")
    await graph.ainvoke(task(), on("u"), durability="sync")
    before = {thread: await history(graph, thread) for thread in ("t", "u")}
    for source, target in (("t", "u"), ("t", "t"), ("nothing", "u")):
        with pytest.raises(UsageError, match=f"thread {target} exists: give the new one another name"):
            await saver.acopy_thread(source, target)
        with pytest.raises(UsageError, match=f"thread {target} exists"):
            await asyncio.to_thread(saver.copy_thread, source, target)
    assert {thread: await history(graph, thread) for thread in ("t", "u")} == before


async def test_a_copied_thread_has_the_whole_history_and_lives_alone(saver, graph):
    await run(graph, "t")
    before = await history(graph, "t")
    await saver.acopy_thread("t", "copy")
    assert await history(graph, "copy") == before
    await saver.adelete_thread("t")
    assert await history(graph, "t") == {}
    assert await history(graph, "copy") == before
