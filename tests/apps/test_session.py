from __future__ import annotations

import json

import pytest

from clew.apps.session import open_session
from clew.apps.task import task_input
from clew.apps.view import ThreadView
from clew.graphs import AGENTS
from clew.state.errors import ThreadBusy
from clew.state.settings import Settings
from clew.state.thread import ThreadRecord


@pytest.fixture
async def session(tmp_path):
    async with open_session(Settings(home=tmp_path)) as opened:
        yield opened


@pytest.fixture
def record(tmp_path):
    (tmp_path / "script.json").write_text(json.dumps(["Done.", "Done again."]))
    model = f"script:{tmp_path / 'script.json'}"
    return ThreadRecord(thread="t1", agents=[AGENTS["manus"]], model=model, workspace=str(tmp_path / "files"))


async def run(session, record, seen=None):
    task = task_input("do it", [])
    return [event.event async for event in session.drive(record, task, owner="a test", seen=seen)]


async def test_an_input_for_a_thread_that_went_on_meanwhile_is_refused_and_changes_nothing(session, record):
    unseen = ThreadView("t1")
    assert await run(session, record, unseen) == ["start", "think", "end"]
    view = await session.view(record)
    with pytest.raises(ThreadBusy, match="thread t1 was taken further by another process meanwhile: `clew show t1`"):
        await run(session, record, unseen)
    assert await session.view(record) == view
    assert await run(session, record, view) == ["start", "think", "end"]
    assert len((await session.values(record))["messages"]) == 4


async def test_a_thread_that_somebody_runs_shows_who(session, record):
    await run(session, record)
    async with session.registry.lease("t1", "another way in"):
        view = await session.view(record)
        with pytest.raises(ThreadBusy, match="is being run by another way in, process"):
            await run(session, record)
    assert (view.status, view.reason.split(",")[0]) == ("running", "another way in")


async def test_only_a_thread_that_a_person_stopped_waits_as_paused(session, record):
    for paused, expected in ((True, ("waiting", "paused")), (False, ("idle", ""))):
        view = await session.view(record.model_copy(update={"paused": paused}))
        assert (view.status, view.reason) == expected
