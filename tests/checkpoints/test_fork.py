"""A thread begins anew at any checkpoint of another, and goes on from there."""

import pytest
from labyrinth import say, texts
from labyrinth_threads import answered, history, on, pending_calls, waiting
from langgraph.types import Command

from clew.checkpoints.fork import fork_thread, refuse_cut_off
from clew.checkpoints.journal import Entry, Journal
from clew.checkpoints.threads import thread_registry
from clew.state.errors import UsageError


async def test_a_fork_of_a_waiting_thread_waits_for_the_same_answer(saver):
    graph = await waiting(saver)
    await fork_thread(saver, "t", "u")
    assert [question.value for question in (await graph.aget_state(on("u"))).interrupts] == ["which way?"]
    left = texts(await graph.ainvoke(Command(resume="left"), on("t"), durability="sync"))
    right = texts(await graph.ainvoke(Command(resume="right"), on("u"), durability="sync"))
    assert [text.replace("right", "left") for text in right] == [text.replace("right", "left") for text in left]
    assert (await thread_registry(saver).get("u")).task == "find the way out"
    assert await saver.blobs.references("u") == await saver.blobs.references("t")


async def test_a_fork_goes_on_from_any_checkpoint(saver):
    graph = await answered(saver)
    before = await history(graph, "t")
    for place, (checkpoint, state, following) in enumerate(before):
        await fork_thread(saver, "t", f"from {place}", at=checkpoint)
        found = await graph.aget_state(on(f"from {place}"))
        assert (texts(found.values) if found.values else [], found.next) == (state, following)
        assert await history(graph, f"from {place}") == before[place:]
    third = next(place for place, (_, _, following) in enumerate(before) if following == ("remove",))
    result = await graph.ainvoke(None, on(f"from {third}"), durability="sync")
    assert [question.value for question in result["__interrupt__"]] == ["which way?"]
    assert await history(graph, "t") == before


async def test_a_fork_asks_for_a_known_checkpoint_and_a_new_name(saver):
    await waiting(saver)
    with pytest.raises(UsageError, match="no checkpoint x in thread t: `clew history t` lists them"):
        await fork_thread(saver, "t", "u", at="x")
    with pytest.raises(UsageError, match="thread t exists"):
        await fork_thread(saver, "t", "t")
    with pytest.raises(UsageError, match="no thread x"):
        await fork_thread(saver, "x", "u")


async def test_deleting_a_fork_leaves_its_source(saver):
    graph = await waiting(saver)
    await fork_thread(saver, "t", "u")
    await graph.aupdate_state(on("u"), {"messages": [say("only here")]}, as_node="append")
    await thread_registry(saver).delete("u")
    assert len(await saver.blobs.references("t")) == 1
    assert len(await history(graph, "t")) > 5


async def test_a_fork_and_a_copy_know_of_the_calls_that_were_begun_at_every_depth(saver):
    calls = await pending_calls(await waiting(saver))
    journal = Journal(saver)
    for key, checkpoint in calls.items():
        await journal.begin(key, checkpoint)
    await fork_thread(saver, "t", "fork")
    await saver.acopy_thread("t", "copy")
    for key, checkpoint in calls.items():
        for thread in ("fork", "copy"):
            assert await journal.begin(key._replace(thread=thread), checkpoint) == Entry(may_run=False)


async def test_a_fork_from_an_older_checkpoint_knows_of_no_calls(saver):
    graph = await waiting(saver)
    for key, checkpoint in (await pending_calls(graph)).items():
        await Journal(saver).begin(key, checkpoint)
    await fork_thread(saver, "t", "u", at=(await history(graph, "t"))[1][0])
    assert await saver.database.fetch("SELECT call FROM journal WHERE thread = 'u'") == []


async def test_a_checkpoint_with_calls_that_were_begun_is_not_copied_within_its_thread(saver):
    graph = await waiting(saver)
    newest, before = [checkpoint for checkpoint, _, _ in await history(graph, "t")][:2]
    calls, journal = await pending_calls(graph), Journal(saver)
    for key, checkpoint in calls.items():
        await refuse_cut_off(saver, "t", newest)
        await journal.begin(key, checkpoint)
        with pytest.raises(UsageError, match=r"fork it to a new thread \(--to NEW\), which knows of them"):
            await refuse_cut_off(saver, "t", newest)
        await refuse_cut_off(saver, "t", before)
        await journal.wait(key)
