"""Tasks outlive the server, on SQLite for its owner's eyes alone, and on PostgreSQL."""

from __future__ import annotations

import stat

import pytest
from a2a.types import Task, TaskState, TaskStatus
from postgres_server import new_database, running_server

from clew.apps.a2a.stores import open_stores, owner_context


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.needs("initdb"))])
def kept(request, settings):
    if request.param == "sqlite":
        yield settings
        return
    with running_server() as server:
        yield settings.model_copy(update={"db": new_database(server)})


async def test_unfinished_tasks_of_all_owners_are_found_again(kept):
    states = {"t1": TaskState.TASK_STATE_WORKING, "t2": TaskState.TASK_STATE_COMPLETED}
    async with open_stores(kept) as stores:
        for owner in ("ariadne", "theseus"):
            for name, state in states.items():
                task = Task(id=f"{owner}-{name}", context_id="c", status=TaskStatus(state=state))
                await stores.tasks.save(task, owner_context(owner))
    async with open_stores(kept) as stores:
        found = [(context.user.user_name, task.id) for context, task in await stores.unfinished()]
        assert sorted(found) == [("ariadne", "ariadne-t1"), ("theseus", "theseus-t1")]
        assert await stores.tasks.get("ariadne-t1", owner_context("theseus")) is None


async def test_the_file_is_for_its_owner_alone(settings, tmp_path):
    async with open_stores(settings):
        assert stat.S_IMODE((tmp_path / "clew.a2a.db").stat().st_mode) == 0o600
