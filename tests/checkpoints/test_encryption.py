"""With a key nothing of a state can be read from the files, and a wrong key is told in one sentence."""

import sqlite3
from contextlib import closing

import pytest
from labyrinth import build, task, texts
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from clew.checkpoints.encryption import KEY_VARIABLE, encrypted
from clew.checkpoints.export import export_thread, import_thread
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import CheckpointError, UsageError
from clew.state.thread import ThreadRecord

CONFIG = {"configurable": {"thread_id": "t"}}
KEY = "a key that only this test knows"
TASK = "find the minotaur"


async def write(path, key=KEY):
    async with open_saver(path, key=key) as saver:
        await build(saver).ainvoke(task(TASK), CONFIG, durability="sync")
        await thread_registry(saver).put(ThreadRecord(thread="t", task=TASK))
        return await saver.blobs.put("t", TASK)


async def read(path, key=KEY):
    async with open_saver(path, key=key) as saver:
        return texts((await build(saver).aget_state(CONFIG)).values)


async def test_nothing_that_was_said_is_in_the_files(tmp_path):
    reference = await write(tmp_path / "clew.db")
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for text in (TASK, "turn 0", "which way?", "HumanMessage"):
        assert text.encode() not in content
    async with open_saver(tmp_path / "clew.db", key=KEY) as saver:
        assert await saver.blobs.get(reference) == TASK.encode()
        assert (await thread_registry(saver).get("t")).task == TASK
    assert "turn 0" in await read(tmp_path / "clew.db")


async def test_a_wrong_key_is_told(tmp_path):
    await write(tmp_path / "clew.db")
    with pytest.raises(CheckpointError, match="CLEW_ENCRYPTION_KEY is not the key of this database"):
        await read(tmp_path / "clew.db", key="a key that is another one")


async def test_a_missing_key_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    await write(tmp_path / "clew.db", key=None)
    monkeypatch.delenv(KEY_VARIABLE)
    with pytest.raises(CheckpointError, match="the database is encrypted: set CLEW_ENCRYPTION_KEY"):
        await read(tmp_path / "clew.db", key=None)


async def test_a_database_in_the_clear_goes_on_encrypted(tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    await write(tmp_path / "clew.db", key=None)
    assert "turn 0" in await read(tmp_path / "clew.db")


def in_files(folder, text):
    return any(text.encode() in path.read_bytes() for path in folder.iterdir())


async def test_a_payload_from_before_there_was_a_key_is_encrypted_when_it_is_stored_again(tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    text = "the way to the minotaur " * 1000
    async with open_saver(tmp_path / "clew.db") as saver:
        reference = await saver.blobs.put("a", text)
    assert in_files(tmp_path, "minotaur")
    async with open_saver(tmp_path / "clew.db", key=KEY) as saver:
        assert await saver.blobs.put("b", text) == reference
        assert await saver.blobs.get(reference) == text.encode()
        assert await saver.blobs.references("a") == await saver.blobs.references("b") == {reference: len(text)}
        assert await saver.blobs.put("c", text) == reference
    assert not in_files(tmp_path, "minotaur")


@pytest.mark.needs("initdb")
async def test_a_payload_in_postgresql_is_encrypted_when_it_is_stored_again(postgres_url, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    for key in (None, KEY):
        async with open_saver(postgres_url, key=key) as saver:
            reference = await saver.blobs.put("t", TASK)
            assert await saver.blobs.get(reference) == TASK.encode()
            kinds = [kind for (kind,) in await saver.database.fetch("SELECT type FROM blobs")]
            assert ["+" in kind for kind in kinds] == [key is not None]


@pytest.mark.parametrize("key", [None, KEY])
async def test_payloads_of_another_key_are_told_with_the_name_of_their_file(tmp_path, monkeypatch, key):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    reference = await write(tmp_path / "other.db", key="a key that is another one")
    await write(tmp_path / "clew.db", key=key)
    (tmp_path / "other.db-blobs").replace(tmp_path / "clew.db-blobs")
    async with open_saver(tmp_path / "clew.db", key=key) as saver:
        with pytest.raises(
            CheckpointError, match=r"clew\.db-blobs is encrypted with another key than the rest: restore"
        ):
            await saver.blobs.get(reference)


async def test_what_was_stored_in_the_clear_is_encrypted_by_an_export_and_an_import(tmp_path, monkeypatch):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    reference = await write(tmp_path / "clew.db", key=None)
    async with open_saver(tmp_path / "clew.db") as saver:
        await export_thread(saver, "t", tmp_path / "t.clew")
    before = await read(tmp_path / "clew.db", key=None)
    (tmp_path / "new").mkdir()
    async with open_saver(tmp_path / "new" / "clew.db", key=KEY) as saver:
        await import_thread(saver, tmp_path / "t.clew")
        assert await saver.blobs.get(reference) == TASK.encode()
        assert (await thread_registry(saver).get("t")).task == TASK
    assert await read(tmp_path / "new" / "clew.db") == before
    assert not in_files(tmp_path / "new", TASK)


async def test_with_its_key_a_database_is_read_while_another_process_writes(tmp_path):
    path = tmp_path / "clew.db"
    await write(path)
    async with open_saver(path, key=KEY, patience=0.2) as reader:
        await reader.database.fetch("SELECT 1")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            async with open_saver(path, key=KEY, patience=0.2) as saver:
                assert [record.thread for record in await thread_registry(saver).list()] == ["t"]
            other.execute("ROLLBACK")


async def test_a_weak_key_is_refused(tmp_path):
    with pytest.raises(UsageError, match="must have 16 characters or more"):
        await write(tmp_path / "clew.db", key="short")


def test_a_missing_package_is_named(monkeypatch):
    def missing(*_, **__):
        raise ImportError

    monkeypatch.setattr(EncryptedSerializer, "from_pycryptodome_aes", missing)
    with pytest.raises(UsageError, match=r"pip install 'clew\[encryption\]'"):
        encrypted(EncryptedSerializer(None), KEY)
