"""A session over a database: what must not be stored is not."""

import pytest

from clew.apps.session import open_session
from clew.graphs.specs import agent_spec
from clew.state.settings import Settings
from clew.state.thread import ThreadRecord

KEY = "a-provider-key-of-no-known-shape"


@pytest.mark.parametrize("table", [{"llm": {"remote": {"api_key": KEY}}}, {"search": {"brave_api_key": KEY}}])
async def test_a_key_of_the_settings_reaches_no_checkpoint(tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "script.json"
    script.write_text(f'["The key is {KEY}."]')
    settings = Settings.model_validate({"home": tmp_path / "home", "model": f"script:{script}", **table})
    async with open_session(settings) as session:
        record = ThreadRecord(thread="t", agents=[agent_spec("manus")], task=f"Use {KEY}.")
        task = {"messages": [("user", f"Use {KEY}.")]}
        events = [event async for event in session.drive(record, task, owner="test")]
    assert events[-1].status == "finished"
    stored = [file for file in (tmp_path / "home").rglob("*") if file.is_file()]
    assert stored
    assert not [file.name for file in stored if KEY.encode() in file.read_bytes()]
