"""Processes that import or fork a thread are killed with SIGKILL at any moment: the thread is whole, or not there."""

from pathlib import Path

import pytest
from crash_story import start
from labyrinth import State, build
from labyrinth_threads import history

from clew.checkpoints.export import import_thread
from clew.checkpoints.fork import fork_thread
from clew.checkpoints.history import disk_usage
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import UsageError

SCRIPT = Path(__file__).with_name("crash_moves.py")
KILLS = [20, pytest.param(150, marks=[pytest.mark.soak, pytest.mark.timeout(1800)], id="long")]
POSTGRES = pytest.param("postgresql", marks=pytest.mark.needs("initdb"))


async def contents(saver, thread):
    """All that a database holds of a thread, but when its record was put."""
    journal = "SELECT namespace, checkpoint_id, task, call, status FROM journal WHERE thread = ? ORDER BY task"
    return {
        "history": await history(build(saver), thread),
        "checkpoints": sorted((node.namespace, node.id) for node in await saver.anodes(thread)),
        "calls": await saver.database.fetch(journal, (thread,)),
        "record": thread in await thread_registry(saver).names(),
        "payloads": await saver.blobs.references(thread),
    }


NOTHING = {"history": [], "checkpoints": [], "calls": [], "record": False, "payloads": {}}


@pytest.mark.parametrize("kind", ["sqlite", POSTGRES])
@pytest.mark.parametrize("move", ["import", "fork"])
@pytest.mark.parametrize("kills", KILLS)
async def test_a_thread_whose_move_was_killed_is_whole_or_not_there(request, tmp_path, kind, move, kills):
    url = request.getfixturevalue("postgres_url") if kind == "postgresql" else str(tmp_path / "clew.db")
    assert start(SCRIPT, tmp_path / "work", url, move, kills).wait() == 0
    async with open_saver(url, states=[State]) as saver:
        whole = await contents(saver, "u0")
        assert whole == await contents(saver, "t")
        assert len(whole["calls"]) == len(whole["payloads"]) == 2
        last, absent = f"u{kills}", []
        for number in range(1, kills + 1):
            found = await contents(saver, f"u{number}")
            if found != whole:
                assert {**found, "payloads": {}} == NOTHING
                assert found["payloads"] == {} or f"u{number}" == last
                absent.append(f"u{number}")
        assert 0 < len(absent) < kills
        assert {size.thread for size in await disk_usage(saver)}.isdisjoint(absent)
        for thread in absent:
            with pytest.raises(UsageError, match=f"no thread {thread}"):
                await thread_registry(saver).delete(thread)
            if move == "import":
                await import_thread(saver, tmp_path / "work/t.clew", thread)
            else:
                await fork_thread(saver, "t", thread)
            assert await contents(saver, thread) == whole
        assert await saver.database.fetch("SELECT thread FROM leases") == []
    print(f"{move}, {kind}: {kills} kills, {len(absent)} before the thread was there")
