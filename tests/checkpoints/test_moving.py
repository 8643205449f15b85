"""A thread leaves a database as it is at one moment."""

import asyncio
import threading

import pytest
from labyrinth import State
from labyrinth_threads import answered, on, pending_calls, waiting

from clew.checkpoints.journal import Journal
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import UsageError

KEY = "a key that only this test knows"


@pytest.fixture(
    params=["inline", "in a thread and encrypted", pytest.param("postgresql", marks=pytest.mark.needs("initdb"))]
)
def opening(request, tmp_path):
    """Opens a saver of the same database each time."""
    options = {"in_thread": True, "key": KEY} if "thread" in request.param else {}
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else tmp_path / "clew.db"
    return lambda: open_saver(url, states=[State], **options)


async def parts_of(saver, take=None):
    parts = []

    def taking(part):
        parts.append(part)
        if take:
            take(len(parts))

    await saver.moving.send("t", taking)
    return parts


async def prune_everything(saver):
    await saver.aprune(["t"])


async def delete_everything(saver):
    await thread_registry(saver).delete("t")


async def go_on(saver):
    for checkpoint in [found async for found in saver.alist(on("t"))]:
        await saver.aput_writes(checkpoint.config, [("turn", 99)], "another task")
    for call, checkpoint in (await pending_calls(await waiting(saver, "u"), "u")).items():
        await Journal(saver).begin(call._replace(thread="t"), checkpoint)


@pytest.mark.parametrize("meanwhile", [prune_everything, delete_everything, go_on])
@pytest.mark.parametrize("place", [1, 3])
async def test_what_is_done_while_a_thread_leaves_is_not_in_it(opening, meanwhile, place):
    async def elsewhere():
        async with opening() as other:
            await meanwhile(other)

    def take(count):
        if count == place:
            thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
            thread.start()
            thread.join()

    async with opening() as saver:
        await answered(saver)
        before = await parts_of(saver)
        assert [part["part"] for part in before].count("checkpoint") > 10
        assert await parts_of(saver, take) == before


async def test_a_thread_that_is_gone_does_not_leave(saver):
    with pytest.raises(UsageError, match="no thread t: `clew threads` lists them"):
        await parts_of(saver)
