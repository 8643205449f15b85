"""Threads are remembered, and run by one process at a time."""

import asyncio
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from clew.checkpoints import leases
from clew.checkpoints.open import open_saver
from clew.checkpoints.processes import this_process
from clew.checkpoints.threads import thread_registry
from clew.state.errors import ThreadBusy, ThreadUnreadable, UsageError
from clew.state.spec import AgentSpec
from clew.state.thread import ThreadRecord

HOLDER = """
import asyncio, sys
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry

async def main():
    async with open_saver(sys.argv[1]) as saver, thread_registry(saver).lease("t", "the other run"):
        print("held", flush=True)
        await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("initdb"))])
def database(request, tmp_path):
    return request.getfixturevalue("postgres_url") if request.param == "postgresql" else tmp_path / "home" / "clew.db"


@pytest.fixture
async def registry(database):
    async with open_saver(database) as saver:
        yield thread_registry(saver)


@pytest.fixture
def other_process(database):
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(database)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


async def test_a_record_comes_back_as_it_was_put(registry):
    record = ThreadRecord(thread="t", agents=[AgentSpec(name="manus", tools=("bash",))], task="count", max_steps=7)
    await registry.put(record)
    found = await registry.get("t")
    assert found.model_dump(exclude={"updated"}) == record.model_dump(exclude={"updated"})
    assert found.updated >= record.updated


async def test_the_thread_used_last_is_listed_first(registry):
    for thread in ("a", "b", "a"):
        await registry.put(ThreadRecord(thread=thread))
    assert [record.thread for record in await registry.list()] == ["a", "b"]


async def test_an_unknown_thread_is_answered_with_near_names(registry):
    await registry.put(ThreadRecord(thread="weather-2"))
    with pytest.raises(UsageError, match=r"no thread weather-1: did you mean weather-2\? `clew threads` lists them"):
        await registry.get("weather-1")
    with pytest.raises(UsageError, match=r"no thread zzz: `clew threads` lists them"):
        await registry.delete("zzz")


async def test_a_deleted_thread_is_gone(registry):
    await registry.put(ThreadRecord(thread="t"))
    await registry.delete("t")
    assert await registry.list() == []


PUT = "UPDATE threads SET type = ?, record = ? WHERE thread = 'bad'"
COLOURED = {"thread": "bad", "agents": [{"name": "manus", "colour": "red"}]}


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        (
            COLOURED,
            r"thread bad cannot be read \(agents\.0\.colour: Extra inputs are .*: if a newer clew wrote it, upgrade",
        ),
        (b"no record", r"thread bad cannot be read \(value: "),
        (None, r"thread bad cannot be read \(value: "),
        (("msgpack", b"\xc1"), "thread bad holds a value that is damaged: restore .* with `clew delete bad`"),
        (("pickle", b""), "thread bad holds a value that is damaged"),
    ],
)
async def test_a_record_that_cannot_be_read_is_named_and_keeps_nobody_from_the_others(database, record, sentence):
    async with open_saver(database) as saver:
        registry = thread_registry(saver)
        for thread in ("good", "bad"):
            await registry.put(ThreadRecord(thread=thread))
        stored = record if isinstance(record, tuple) else saver.serde.dumps_typed(record)
        await saver.database.write((PUT, stored))
        with pytest.raises(ThreadUnreadable, match=sentence):
            await registry.get("bad")
        assert [found.thread for found in await registry.list()] == ["good"]
        assert [str(error) for error in await registry.unreadable()] == [await told(registry)]
        assert await registry.names() == {"good", "bad"}
        await registry.delete("bad")
        assert await registry.names() == {"good"}


async def told(registry):
    try:
        await registry.get("bad")
    except ThreadUnreadable as error:
        return str(error)


async def test_of_many_who_ask_for_a_lease_one_wins_and_the_others_hear_who(registry):
    async def attempt(number):
        async with registry.lease("t", f"run {number}"):
            await asyncio.sleep(0.2)
            return number

    results = await asyncio.gather(*(attempt(number) for number in range(5)), return_exceptions=True)
    winners = [result for result in results if isinstance(result, int)]
    losers = [str(result) for result in results if isinstance(result, ThreadBusy)]
    assert len(winners) == 1
    assert len(losers) == 4
    assert all(f"run by run {winners[0]}, process {os.getpid()}" in message for message in losers)
    assert await registry.holder("t") is None


async def test_another_process_keeps_its_lease_while_it_lives_and_loses_it_at_once_when_killed(registry, other_process):
    with pytest.raises(ThreadBusy, match=f"the other run, process {other_process.pid}"):
        async with registry.lease("t", "mine"):
            pytest.fail("two processes held one thread")
    other_process.kill()  # not reaped yet: a corpse holds nothing either
    await asyncio.to_thread(os.waitid, os.P_PID, other_process.pid, os.WEXITED | os.WNOWAIT)
    assert await registry.holder("t") is None
    async with registry.lease("t", "mine"):
        holder = await registry.holder("t")
        assert holder is not None
        assert holder.process == this_process()


async def test_a_later_process_with_the_same_number_is_not_the_holder(registry):
    async with registry.lease("t", "mine"):
        holder = await registry.holder("t")
    earlier = replace(holder.process, started=holder.process.started + "0")
    assert earlier.is_alive() is False
    assert holder.process.is_alive() is True


async def test_a_holder_on_another_machine_lives_by_its_heartbeat(registry):
    elsewhere = replace(this_process(), host="elsewhere")
    assert await leases.Holder("token", "run", elsewhere, leases.EXPIRY - 1).lives()
    assert not await leases.Holder("token", "run", elsewhere, leases.EXPIRY).lives()


async def test_a_lease_that_was_taken_over_stops_its_holder(registry, monkeypatch):
    monkeypatch.setattr(leases, "HEARTBEAT", 0.01)

    async def run_while_another_takes_over():
        async with registry.lease("t", "mine"):
            await registry._database.write(("UPDATE leases SET token = 'theirs'", ()))
            await asyncio.sleep(30)

    with pytest.raises(ThreadBusy, match="was taken over"):
        await run_while_another_takes_over()
    assert (await registry._database.fetch("SELECT token FROM leases")) == [("theirs",)]
    assert asyncio.current_task().cancelling() == 0


async def test_a_cancelled_run_gives_its_lease_back(registry):
    held = asyncio.Event()

    async def run():
        async with registry.lease("t", "mine"):
            held.set()
            await asyncio.sleep(600)

    task = asyncio.create_task(run())
    await held.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await registry.holder("t") is None


async def test_a_foreign_saver_keeps_no_threads():
    from langgraph.checkpoint.memory import InMemorySaver

    with pytest.raises(UsageError, match="InMemorySaver keeps no threads"):
        thread_registry(InMemorySaver())
