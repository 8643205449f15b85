"""What is PostgreSQL's own: roles and their rights."""

import psycopg
import pytest
from labyrinth import KNOWN, build, task
from langgraph.types import Command

from clew.checkpoints.open import open_saver
from clew.checkpoints.open_plans import open_plan_library
from clew.checkpoints.threads import thread_registry
from clew.state.errors import CheckpointError
from clew.state.plan import Plan, PlanStep
from clew.state.thread import ThreadRecord

pytestmark = pytest.mark.needs("initdb")

CONFIG = {"configurable": {"thread_id": "t"}, "metadata": {"run_id": "r"}}


@pytest.fixture
def guest_url(postgres_url):
    """The URL of the database for a role that may make nothing there; it may use what others have made."""
    name = f"guest_{postgres_url.rpartition('/')[2]}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN".encode())
        for kind in ("TABLES", "SEQUENCES"):
            connection.execute(f"ALTER DEFAULT PRIVILEGES GRANT ALL ON {kind} TO {name}".encode())
        connection.execute(f"ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO {name}".encode())
    return postgres_url.replace("clew@", f"{name}@")


async def test_a_role_that_may_make_nothing_works_in_a_database_that_another_one_has_made(postgres_url, guest_url):
    with pytest.raises(CheckpointError, match="the database may not be written: permission denied for database"):
        async with open_saver(guest_url):
            pass
    async with open_plan_library(postgres_url):
        pass
    async with open_saver(guest_url, states=KNOWN) as saver:
        graph = build(saver)
        await graph.ainvoke(task(), CONFIG, durability="sync")
        await graph.ainvoke(Command(resume="left"), CONFIG, durability="sync")
        await thread_registry(saver).put(ThreadRecord(thread="t"))
        await saver.blobs.put("t", b"a picture")
        await saver.aprune(["t"])
        assert len((await graph.aget_state(CONFIG)).values["messages"]) == 7
        await thread_registry(saver).delete("t")
        assert await thread_registry(saver).list() == []
    async with open_plan_library(guest_url) as library:
        await library.put(Plan(id="p", title="Out", steps=[PlanStep(id="s1", text="walk")]))
        assert [entry.plan.id for entry in await library.list()] == ["p"]
