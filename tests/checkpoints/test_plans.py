import asyncio
import sqlite3
import stat
import sys
from contextlib import closing

import pytest
from langgraph.store.memory import InMemoryStore

from clew.checkpoints.open import open_saver
from clew.checkpoints.open_plans import list_plans, open_plan_library
from clew.checkpoints.plans import PlanLibrary
from clew.state.errors import CheckpointError, PlanError, UsageError
from clew.state.plan_draft import create_plan
from clew.state.plan_fold import apply_operations
from clew.state.plan_operation import MarkStep

POSTGRES = pytest.param("postgresql", marks=pytest.mark.needs("initdb"))


@pytest.fixture(params=["sqlite", POSTGRES])
def url(request, tmp_path):
    return (
        request.getfixturevalue("postgres_url")
        if request.param == "postgresql"
        else f"sqlite:///{tmp_path}/folder/clew.db"
    )


@pytest.fixture(params=["memory", "sqlite", POSTGRES])
async def library(request, tmp_path):
    if request.param == "memory":
        yield PlanLibrary(InMemoryStore())
        return
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else tmp_path / "clew.db"
    async with open_plan_library(url) as opened:
        yield opened


def plan(plan_id="plan_1", size=3):
    return create_plan(plan_id, f"Title of {plan_id}", [f"Step {place}" for place in range(size)])


def noting(place, note):
    return lambda newest: apply_operations(newest, [MarkStep(step=newest.step_at(place).id, note=note)])


async def test_a_published_plan_comes_back_with_its_thread_and_checkpoint(library):
    entry = await library.put(plan(), thread="thread_1", checkpoint="checkpoint_9")
    assert await library.get("plan_1") == entry
    assert (entry.plan, entry.thread, entry.checkpoint) == (plan(), "thread_1", "checkpoint_9")


async def test_publishing_again_replaces_the_copy(library):
    await library.put(plan(), thread="thread_1", checkpoint="a")
    await library.put(noting(0, "half")(plan()), thread="thread_1", checkpoint="b")
    entry = await library.get("plan_1")
    assert (entry.plan.step("s1").notes, entry.checkpoint) == ("half", "b")


async def test_plans_are_listed_the_one_published_last_first(library):
    for plan_id in ("a", "b", "c", "a"):
        await library.put(plan(plan_id))
    assert [entry.plan.id for entry in await library.list()] == ["a", "c", "b"]


async def test_a_library_of_more_plans_than_a_page_is_listed_whole(library, monkeypatch):
    monkeypatch.setattr("clew.checkpoints.plans._PAGE", 3)
    for place in range(10):
        await library.put(plan(f"plan_{place}"))
    assert len(await library.list()) == 10


async def test_an_empty_library_lists_nothing_and_knows_no_plan(library):
    assert await library.list() == []
    for ask in (library.get("x"), library.delete("x"), library.set_active("x", "t"), library.change("x", plan)):
        with pytest.raises(PlanError, match="no plan 'x'"):
            await ask


async def test_the_active_plan_is_chosen_for_each_scope(library):
    await library.put(plan("a"))
    await library.put(plan("b"))
    await library.set_active("a", "thread_1")
    await library.set_active("b", "thread_2")
    assert (await library.active("thread_1")).plan.id == "a"
    assert (await library.active("thread_2")).plan.id == "b"
    assert await library.active("thread_3") is None


async def test_a_deleted_plan_is_gone_and_no_longer_active(library):
    await library.put(plan())
    await library.set_active("plan_1", "t")
    await library.delete("plan_1")
    assert await library.active("t") is None
    assert await library.list() == []


async def test_adding_twice_is_adding_once_and_another_plan_of_that_id_is_refused(library):
    assert await library.add(plan()) == await library.add(plan())
    with pytest.raises(PlanError, match="'plan_1' exists"):
        await library.add(plan(size=5))


async def test_a_plan_of_a_thread_is_not_changed_behind_its_back(library):
    await library.put(plan(), thread="thread_7")
    with pytest.raises(PlanError, match="belongs to the thread thread_7"):
        await library.change("plan_1", noting(0, "x"))


async def test_a_change_that_fails_changes_nothing_and_lets_the_next_one_in(library):
    await library.put(plan())
    with pytest.raises(PlanError, match="out of range"):
        await library.change("plan_1", noting(9, "x"))
    assert (await library.change("plan_1", noting(0, "y"))).plan.step("s1").notes == "y"


async def test_tasks_that_change_one_plan_at_once_lose_nothing(library):
    await library.put(plan(size=10))
    await asyncio.gather(*(library.change("plan_1", noting(place % 10, f"n{place}")) for place in range(30)))
    notes = [step.notes.split() for step in (await library.get("plan_1")).plan.steps]
    assert sorted(note for lines in notes for note in lines) == sorted(f"n{place}" for place in range(30))


async def test_the_library_survives_its_process_and_shares_the_database_of_the_checkpoints(url):
    async with open_plan_library(url) as library, open_saver(url):
        await library.put(plan(), thread="thread_1")
    async with open_saver(url), open_plan_library(url) as library:
        assert (await library.get("plan_1")).thread == "thread_1"


async def test_the_files_are_for_this_user_alone(tmp_path):
    async with open_plan_library(tmp_path / "clew.db") as library:
        await library.put(plan())
        assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in tmp_path.iterdir())


async def test_what_is_no_database_is_refused_with_a_sentence(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database " * 100)
    with pytest.raises(CheckpointError, match="not a SQLite database"):
        async with open_plan_library(tmp_path / "notes.txt"):
            pass
    with pytest.raises(UsageError, match="no database mysql://"):
        async with open_plan_library("mysql://host/db"):
            pass


async def test_a_full_disk_is_told_and_what_was_published_stays(tmp_path):
    async with open_plan_library(tmp_path / "clew.db") as library:
        await library.put(plan())
        await library.store.conn.execute("PRAGMA max_page_count=1")
        with pytest.raises(CheckpointError, match=r"clew\.db could not grow because the disk is full"):
            await library.put(plan("large", size=2000))
        assert [entry.plan for entry in await library.list()] == [plan()]


async def test_a_library_that_may_only_be_read_is_listed_and_tells_who_publishes(tmp_path):
    async with open_plan_library(tmp_path / "clew.db") as library:
        await library.put(plan())
        await library.store.conn.execute("PRAGMA query_only=ON")
        for change in (library.put(plan("other")), library.add(plan("other")), library.delete("plan_1")):
            with pytest.raises(CheckpointError, match=r"clew\.db is read-only: give this user write access"):
                await change
        assert [entry.plan for entry in await library.list()] == [plan()]


async def test_damage_of_the_plans_alone_is_told_by_those_who_read_them(tmp_path):
    path = tmp_path / "clew.db"
    async with open_plan_library(path) as library:
        await library.put(plan())
    with closing(sqlite3.connect(path)) as connection:
        ((page,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'store'")
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xa5" * 4096)
    async with open_plan_library(path) as library:
        for look in (library.get("plan_1"), library.list()):
            with pytest.raises(CheckpointError, match=r"clew\.db is damaged: restore it from a backup"):
                await look


async def test_a_process_that_writes_something_else_is_waited_for_and_then_told(tmp_path):
    path = tmp_path / "clew.db"
    async with open_plan_library(path, patience=0.2) as library:
        await library.put(plan())
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(CheckpointError, match=r"clew\.db is locked by another process"):
                await library.put(plan("other"))
            async with open_plan_library(path, patience=0.2) as reader:
                assert [entry.plan for entry in await reader.list()] == [plan()]
            assert [entry.plan for entry in await list_plans(path)] == [plan()]
            other.execute("COMMIT")
        await library.put(plan("other"))


async def test_listing_makes_neither_a_file_nor_a_table(tmp_path):
    path = tmp_path / "clew.db"
    assert await list_plans(path) == []
    assert not path.exists()
    async with open_saver(path):
        pass
    before = path.read_bytes()
    assert await list_plans(path) == []
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])


async def test_plans_are_listed_from_either_database(url):
    async with open_plan_library(url) as library:
        await library.put(plan())
    assert [entry.plan for entry in await list_plans(url)] == [plan()]


async def test_secrets_never_reach_the_file(tmp_path):
    async with open_plan_library(tmp_path / "clew.db", secrets=["the-password-of-ours"]) as library:
        await library.put(noting(0, "log in with the-password-of-ours")(plan()))
        assert (await library.get("plan_1")).plan.step("s1").notes == "log in with [redacted]"
    assert not any(b"the-password-of-ours" in file.read_bytes() for file in tmp_path.iterdir())


async def test_a_library_in_a_store_of_the_users_masks_what_looks_like_a_secret():
    store = InMemoryStore()
    await PlanLibrary(store).put(noting(0, f"ghp_{'a1' * 20} opens it")(plan()))
    assert (await PlanLibrary(store).get("plan_1")).plan.step("s1").notes == "[redacted] opens it"


async def test_entries_are_encrypted_with_the_key_of_the_checkpoints(url, tmp_path):
    key = "a key of sixteen characters or more"
    async with open_plan_library(url, key=key) as library, open_saver(url, key=key) as saver:
        await library.put(plan())
        assert (await library.get("plan_1")).plan == plan()
        await library.set_active("plan_1", "t")
        assert (await PlanLibrary(library.store, serde=saver.serde).get("plan_1")).plan == plan()
        with pytest.raises(CheckpointError, match="library is encrypted: set CLEW_ENCRYPTION_KEY"):
            await PlanLibrary(library.store).get("plan_1")
    assert not any(b"Title of plan_1" in file.read_bytes() for file in tmp_path.rglob("clew.db*"))
    for wrong in (None, "another key of sixteen characters"):
        with pytest.raises(CheckpointError, match=r"encrypted|not the key"):
            async with open_plan_library(url, key=wrong):
                pass


WRITER = """
import asyncio, sys
from contextlib import suppress
from clew.checkpoints.open_plans import open_plan_library
from clew.state.errors import PlanError
from clew.state.plan_draft import create_plan
from clew.state.plan_fold import apply_operations
from clew.state.plan_operation import MarkStep

async def main(path, name):
    for place in range(10):
        async with open_plan_library(path) as library:
            with suppress(PlanError):
                await library.add(create_plan("shared", "T", [f"Step {step}" for step in range(10)]))
            note = MarkStep(step=f"s{place + 1}", note=f"{name}-{place}")
            await library.change("shared", lambda plan: apply_operations(plan, [note]))
            await library.put(create_plan(f"{name}-{place}", "T", ["a"]), thread=name)
            await library.list()

print("ready", flush=True)
sys.stdin.read(1)
asyncio.run(main(*sys.argv[1:]))
"""


async def start(code, *arguments):
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(sys.executable, "-c", code, *arguments, stdin=pipe, stdout=pipe)


async def test_two_processes_make_and_use_the_library_at_once_and_nothing_is_lost(url):
    processes = [await start(WRITER, url, name) for name in ("left", "right")]
    for process in processes:
        assert await process.stdout.readline() == b"ready\n"
    await asyncio.gather(*(process.communicate(b"!") for process in processes))
    assert [process.returncode for process in processes] == [0, 0]
    async with open_plan_library(url) as library:
        notes = [set(step.notes.split()) for step in (await library.get("shared")).plan.steps]
        listed = {entry.plan.id for entry in await library.list()}
    assert notes == [{f"left-{place}", f"right-{place}"} for place in range(10)]
    assert listed == {"shared", *(f"{name}-{place}" for name in ("left", "right") for place in range(10))}


HOLDER = """
import asyncio, sys
from clew.checkpoints.open_plans import open_plan_library

async def main(path):
    async with open_plan_library(path) as library:
        def hold(plan):
            print("held", flush=True)
            sys.stdin.read()
        await library.change("shared", hold)

asyncio.run(main(sys.argv[1]))
"""


async def test_a_process_that_is_killed_while_it_changes_a_plan_leaves_it_whole_and_free(url):
    async with open_plan_library(url) as library:
        await library.add(plan("shared"))
        holder = await start(HOLDER, url)
        assert await holder.stdout.readline() == b"held\n"
        waiting = asyncio.create_task(library.change("shared", noting(0, "after")))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        holder.kill()
        assert (await waiting).plan.step("s1").notes == "after"
        await holder.communicate()
