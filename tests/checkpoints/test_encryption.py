"""With a key nothing of a state can be read from the files, and a wrong key is told in one sentence."""

import pytest
from labyrinth import build, task, texts
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from clew.checkpoints.encryption import KEY_VARIABLE, encrypted
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


async def test_a_weak_key_is_refused(tmp_path):
    with pytest.raises(UsageError, match="must have 16 characters or more"):
        await write(tmp_path / "clew.db", key="short")


def test_a_missing_package_is_named(monkeypatch):
    def missing(*_, **__):
        raise ImportError

    monkeypatch.setattr(EncryptedSerializer, "from_pycryptodome_aes", missing)
    with pytest.raises(UsageError, match=r"pip install 'clew\[encryption\]'"):
        encrypted(EncryptedSerializer(None), KEY)
