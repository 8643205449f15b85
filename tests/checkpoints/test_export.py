"""A thread moves to another database and goes on from there."""

import pytest
from labyrinth import build, say, texts
from labyrinth_threads import answered, history, on, pending_calls, waiting
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from clew.checkpoints.export import export_thread, import_thread
from clew.checkpoints.journal import Entry, Journal
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import CheckpointError, UsageError

KEY = "a key that only this test knows"


async def test_an_exported_thread_goes_on_in_another_database(saver, tmp_path):
    graph = await waiting(saver)
    size = await export_thread(saver, "t", tmp_path / "t.clew")
    assert size == (tmp_path / "t.clew").stat().st_size
    assert (tmp_path / "t.clew").stat().st_mode & 0o777 == 0o600
    async with open_saver(tmp_path / "other.db", key=KEY) as other:
        assert await import_thread(other, tmp_path / "t.clew") == "t"
        moved = build(other)
        assert await history(moved, "t") == await history(graph, "t")
        assert (await thread_registry(other).get("t")).task == "find the way out"
        assert await other.blobs.references("t") == await saver.blobs.references("t")
        expected = texts(await graph.ainvoke(Command(resume="left"), on("t"), durability="sync"))
        assert texts(await moved.ainvoke(Command(resume="left"), on("t"), durability="sync")) == expected
        assert len(await history(moved, "t")) == len(await history(graph, "t"))


async def test_a_thread_may_come_back_under_another_name(saver, tmp_path):
    graph = await answered(saver)
    await export_thread(saver, "t", tmp_path / "t.clew")
    assert await import_thread(saver, tmp_path / "t.clew", "u") == "u"
    assert await history(graph, "u") == await history(graph, "t")
    with pytest.raises(UsageError, match="thread u exists: give the new one another name"):
        await import_thread(saver, tmp_path / "t.clew", "u")


async def test_an_imported_thread_knows_of_the_calls_that_were_begun_and_of_their_results(saver, tmp_path):
    done, begun = await pending_calls(await waiting(saver))
    journal, result = Journal(saver), ToolMessage("receipt", tool_call_id="call")
    for key in (done, begun):
        await journal.begin(key, (await pending_calls(build(saver)))[key])
    await journal.finish(done, "", result)
    await export_thread(saver, "t", tmp_path / "t.clew")
    async with open_saver(tmp_path / "other.db", key=KEY) as other:
        await import_thread(other, tmp_path / "t.clew", "u")
        moved = Journal(other)
        assert await moved.begin(done._replace(thread="u"), "") == Entry(may_run=False, result=result)
        assert await moved.begin(begun._replace(thread="u"), "") == Entry(may_run=False)


async def test_what_is_no_export_is_refused_and_leaves_nothing(saver, tmp_path):
    await waiting(saver)
    await export_thread(saver, "t", tmp_path / "t.clew")
    whole = (tmp_path / "t.clew").read_bytes()
    (tmp_path / "short").write_bytes(whole[:-10])
    (tmp_path / "other").write_bytes(b"something else")
    with pytest.raises(CheckpointError, match="is cut short or damaged: export the thread again"):
        await import_thread(saver, tmp_path / "short", "u")
    with pytest.raises(UsageError, match="is no thread: give a file that `clew export` wrote"):
        await import_thread(saver, tmp_path / "other", "u")
    with pytest.raises(UsageError, match=r"cannot be read \(No such file or directory\)"):
        await import_thread(saver, tmp_path / "missing", "u")
    with pytest.raises(UsageError, match=r"cannot be written \(File exists\)"):
        await export_thread(saver, "t", tmp_path / "t.clew")
    with pytest.raises(UsageError, match="no thread x"):
        await export_thread(saver, "x", tmp_path / "x.clew")
    assert await saver.anodes("u") == []
    assert await saver.blobs.references("u") == {}


@pytest.mark.needs("initdb")
async def test_a_forked_history_moves_from_sqlite_to_postgresql_and_back(tmp_path, postgres_url):
    async with open_saver(tmp_path / "one.db") as sqlite, open_saver(postgres_url) as postgresql:
        graph = await answered(sqlite)
        start = next(checkpoint for checkpoint, _, following in await history(graph, "t") if following == ("remove",))
        config = {"configurable": {"thread_id": "t", "checkpoint_id": start}, "metadata": {"run_id": "fork"}}
        forked = await graph.aupdate_state(config, {"messages": [say("a note")], "turn": 9}, as_node="append")
        await graph.ainvoke(None, {**forked, "metadata": {"run_id": "fork"}}, durability="sync")
        await export_thread(sqlite, "t", tmp_path / "there.clew")
        await import_thread(postgresql, tmp_path / "there.clew")
        moved = build(postgresql)
        assert await history(moved, "t") == await history(graph, "t")
        more = {"messages": [say("more")], "turn": 7}
        await moved.ainvoke(more, {**on("t"), "metadata": {"run_id": "more"}}, durability="sync")
        assert texts((await moved.aget_state(on("t"))).values)[-4:] == ["more", "turn 7", "left", "right"]
        await export_thread(postgresql, "t", tmp_path / "back.clew")
        await import_thread(sqlite, tmp_path / "back.clew", "u")
        assert await history(graph, "u") == await history(moved, "t")
        again = {"messages": [say("again")], "turn": 7}
        await graph.ainvoke(again, {**on("u"), "metadata": {"run_id": "again"}}, durability="sync")
        assert texts((await graph.aget_state(on("u"))).values)[-4:] == ["again", "turn 7", "left", "right"]


async def exported(tmp_path, key=None):
    async with open_saver(tmp_path / "source.db", key=key) as source:
        await waiting(source)
        await export_thread(source, "t", tmp_path / "t.clew")
    return tmp_path / "t.clew"


async def test_an_encrypted_export_without_its_key_is_a_sentence_that_names_the_setting(tmp_path):
    file = await exported(tmp_path, key=KEY)
    async with open_saver(tmp_path / "plain.db") as saver:
        with pytest.raises(CheckpointError, match="is encrypted: set CLEW_ENCRYPTION_KEY"):
            await import_thread(saver, file)


async def test_a_damaged_export_is_a_sentence_and_nothing_is_imported(tmp_path):
    file = await exported(tmp_path)
    data = bytearray(file.read_bytes())
    data[len(data) // 2 :] = bytes(byte ^ 0xFF for byte in data[len(data) // 2 :])
    file.write_bytes(data)
    async with open_saver(tmp_path / "target.db") as saver:
        with pytest.raises(CheckpointError, match="is cut short or damaged"):
            await import_thread(saver, file)
        assert [found async for found in saver.alist(None)] == []
