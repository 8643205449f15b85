"""The saver of Studio and that of a session are opened as the settings say."""

import pytest
from labyrinth import build, task

from clew.apps.session import open_session
from clew.checkpoints.studio import saver as studio_saver
from clew.state.settings import load_settings

KEY = "a-provider-key-of-no-known-shape"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CLEW_DB", raising=False)
    return tmp_path


async def synchronous(saver):
    return (await saver.database.fetch("PRAGMA synchronous"))[0][0]


@pytest.mark.parametrize(("setting", "mode"), [(None, 1), ("normal", 1), ("full", 2)])
async def test_sqlite_waits_for_the_disk_where_that_is_set(monkeypatch, setting, mode):
    if setting:
        monkeypatch.setenv("CLEW_DB_SYNC", setting)
    async with open_session(load_settings()) as session, studio_saver() as studio:
        assert [await synchronous(session.saver), await synchronous(studio)] == [mode, mode]


async def test_a_key_of_the_settings_is_not_stored_by_studio(folder):
    (folder / "clew.toml").write_text(f'[llm.remote]\napi_key = "{KEY}"\n')
    async with studio_saver() as saver:
        await build(saver).ainvoke(task(f"use {KEY}"), {"configurable": {"thread_id": "t"}}, durability="sync")
    stored = [file for file in (folder / ".clew").iterdir() if file.is_file()]
    assert stored
    assert not [file.name for file in stored if KEY.encode() in file.read_bytes()]
