"""What the disk has changed in a value is told in a sentence that names the thread; other threads are as they were."""

import pytest
from labyrinth import KNOWN, build, task, texts

from clew.checkpoints.history import disk_usage, thread_history
from clew.checkpoints.inbox import Inbox
from clew.checkpoints.journal import CallKey, Journal
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import CheckpointError, ThreadUnreadable
from clew.state.thread import ThreadRecord

KEY = "a key that only this test knows"
SENTENCE = (
    "thread bad holds a value that is damaged: restore the database from a backup, or delete the thread with `clew"
)


def on(thread):
    return {"configurable": {"thread_id": thread}}


async def state(saver, thread):
    return texts((await build(saver).aget_state(on(thread))).values)


@pytest.fixture(params=[None, KEY], ids=["clear", "encrypted"])
async def sqlite(request, tmp_path):
    async with open_saver(tmp_path / "clew.db", states=KNOWN, key=request.param) as saver:
        for thread in ("good", "bad"):
            await build(saver).ainvoke(task(), on(thread), durability="sync")
            await thread_registry(saver).put(ThreadRecord(thread=thread))
        yield saver


FLIPPED = "CAST(substr({0}, 1, 40) AS BLOB) || x'21' || CAST(substr({0}, 42) AS BLOB)"

DAMAGES = {
    "a bit of a checkpoint": f"UPDATE checkpoints SET checkpoint = {FLIPPED.format('checkpoint')} WHERE {{}}",
    "a cut checkpoint": "UPDATE checkpoints SET checkpoint = substr(checkpoint, 1, 60) WHERE {}",
    "no checkpoint": "UPDATE checkpoints SET checkpoint = NULL WHERE {}",
    "a text for a checkpoint": "UPDATE checkpoints SET checkpoint = 'text' WHERE {}",
    "another kind": "UPDATE checkpoints SET type = 'msgqack' WHERE {}",
    "no kind": "UPDATE checkpoints SET type = NULL WHERE {}",
    "a kind of bytes": "UPDATE checkpoints SET type = x'c0c1' WHERE {}",
    "a kind in no encoding": "UPDATE checkpoints SET type = CAST(x'c0c1' AS TEXT) WHERE {}",
    "a namespace of bytes": "UPDATE checkpoints SET checkpoint_ns = x'c0' WHERE {} AND checkpoint_ns <> ''",
    "metadata": "UPDATE checkpoints SET metadata = x'7b22c0' WHERE {}",
    "metadata of another form": "UPDATE checkpoints SET metadata = x'5b5d' WHERE {}",
    "a number for metadata": "UPDATE checkpoints SET metadata = 5 WHERE {}",
    "a bit of each write": f"UPDATE writes SET value = {FLIPPED.format('value')} WHERE {{}}",
    "the places of writes": "UPDATE writes SET idx = 'x' || idx WHERE {}",
    "a missing ancestor": (
        "DELETE FROM checkpoints WHERE {0} AND checkpoint_ns = '' AND checkpoint_id ="
        " (SELECT min(checkpoint_id) FROM checkpoints WHERE {0} AND checkpoint_ns = '')"
    ),
}


async def read_all(saver, thread):
    await state(saver, thread)
    await thread_history(saver, thread)
    await saver.anodes(thread)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
async def test_a_damaged_thread_is_named_and_the_others_are_as_they_were(sqlite, damage):
    before = await state(sqlite, "good")
    await sqlite.database.write((damage.format("thread_id = 'bad'"), ()))
    with pytest.raises(ThreadUnreadable, match=SENTENCE):
        await read_all(sqlite, "bad")
    assert await state(sqlite, "good") == before
    assert [record.thread for record in await thread_registry(sqlite).list()] == ["bad", "good"]
    assert {size.thread for size in await disk_usage(sqlite)} == {"bad", "good"}
    await thread_registry(sqlite).delete("bad")
    assert {size.thread for size in await disk_usage(sqlite)} == {"good"}


async def test_a_damaged_order_or_result_is_told(saver):
    await Inbox(saver).send("bad", "say", "hello")
    key = CallKey("bad", "", "task", "call")
    await Journal(saver).begin(key, "1")
    await saver.database.write(
        ("UPDATE inbox SET type = 'x'", ()), ("UPDATE journal SET status = 'done', type = 'x'", ())
    )
    with pytest.raises(ThreadUnreadable, match=SENTENCE):
        await Inbox(saver).read("bad", 0)
    with pytest.raises(ThreadUnreadable, match=SENTENCE):
        await Journal(saver).begin(key, "1")


@pytest.mark.needs("initdb")
async def test_a_damaged_thread_in_postgresql_is_named(postgres_url):
    async with open_saver(postgres_url, states=KNOWN) as saver:
        for thread in ("good", "bad"):
            await build(saver).ainvoke(task(), on(thread), durability="sync")
        before = await state(saver, "good")
        await saver.database.write(("UPDATE checkpoint_writes SET blob = '\\x00' || blob WHERE thread_id = 'bad'", ()))
        with pytest.raises(ThreadUnreadable, match=SENTENCE):
            await state(saver, "bad")
        assert await state(saver, "good") == before


async def test_a_damaged_payload_is_told(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        reference = await saver.blobs.put("t", b"a picture")
        await saver.blobs._database.write(("UPDATE blobs SET data = x'00'", ()))
        with pytest.raises(
            CheckpointError, match=r"payload sha256:\w+ is damaged: restore .*clew\.db-blobs from a backup"
        ):
            await saver.blobs.get(reference)


async def test_values_from_before_they_had_checksums_are_read(tmp_path):
    async with open_saver(tmp_path / "clew.db") as saver:
        await build(saver).ainvoke(task(), on("t"), durability="sync")
        before = await state(saver, "t")
        kinds = {kind for (kind,) in await saver.database.fetch("SELECT type FROM writes")}
        assert all("#" in kind for kind in kinds)
        for table in ("checkpoints", "writes"):
            await saver.database.write((f"UPDATE {table} SET type = substr(type, 1, instr(type, '#') - 1)", ()))
        assert await state(saver, "t") == before
        await saver.database.write(("UPDATE writes SET value = substr(value, 1, 3) WHERE length(value) > 9", ()))
        with pytest.raises(ThreadUnreadable, match="thread t holds a value that is damaged"):
            await state(saver, "t")
