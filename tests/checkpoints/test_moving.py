"""A thread leaves a database as it is at one moment, and comes to one once, whoever else makes it."""

import asyncio
import threading

import pytest
from labyrinth import State, build
from labyrinth_threads import answered, history, on, pending_calls, waiting

from clew.checkpoints.export import export_thread, import_thread
from clew.checkpoints.fork import fork_thread
from clew.checkpoints.journal import Journal
from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry
from clew.state.errors import CheckpointError, ThreadBusy, UsageError

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


@pytest.mark.parametrize("moves", ["two imports", "an import and a fork", "two forks"])
async def test_of_two_that_make_a_thread_at_once_one_does_and_the_other_says_why_not(opening, tmp_path, moves):
    async with opening() as one, opening() as two:
        graph = await waiting(one)
        await export_thread(one, "t", tmp_path / "t.clew")
        for number in range(5):
            target = f"u{number}"
            imports = import_thread(one, tmp_path / "t.clew", target), import_thread(two, tmp_path / "t.clew", target)
            forks = fork_thread(one, "t", target), fork_thread(two, "t", target)
            pairs = {"two imports": imports, "two forks": forks, "an import and a fork": (imports[0], forks[1])}
            for other in {*imports, *forks} - {*pairs[moves]}:
                other.close()
            ends = await asyncio.gather(*pairs[moves], return_exceptions=True)
            (refused,) = [end for end in ends if isinstance(end, BaseException)]
            assert isinstance(refused, ThreadBusy | UsageError), refused
            assert await history(graph, target) == await history(graph, "t")
            assert await one.blobs.references(target) == await one.blobs.references("t")
            assert (await thread_registry(one).get(target)).task == "find the way out"


async def test_a_thread_that_is_being_made_cannot_be_run_or_made_by_others(saver, tmp_path):
    await waiting(saver)
    await export_thread(saver, "t", tmp_path / "t.clew")
    async with thread_registry(saver).lease("u", "clew run"):
        for move in (import_thread(saver, tmp_path / "t.clew", "u"), fork_thread(saver, "t", "u")):
            with pytest.raises(ThreadBusy, match="thread u is being run by clew run, process"):
                await move
    assert await saver.anodes("u") == []


async def test_a_move_that_fails_leaves_nothing_and_can_be_made_again(saver, tmp_path):
    await waiting(saver)
    await export_thread(saver, "t", tmp_path / "t.clew")
    whole = (tmp_path / "t.clew").read_bytes()

    def refuse(record):
        raise UsageError("not here")

    def cut_the_file(record):
        (tmp_path / "t.clew").write_bytes(whole[:-9])
        return record

    for failing in (
        import_thread(saver, tmp_path / "t.clew", "u", settle=refuse),
        fork_thread(saver, "t", "u", settle=refuse),
        import_thread(saver, tmp_path / "t.clew", "u", settle=cut_the_file),
    ):
        with pytest.raises((UsageError, CheckpointError)):
            await failing
        assert "u" not in await thread_registry(saver).names()
        assert await saver.anodes("u") == []
        assert await saver.blobs.references("u") == {}
    (tmp_path / "t.clew").write_bytes(whole)
    await import_thread(saver, tmp_path / "t.clew", "u")
    assert await history(build(saver), "u") == await history(build(saver), "t")
    assert await saver.blobs.references("u") == await saver.blobs.references("t")


@pytest.mark.needs("initdb")
async def test_a_value_that_the_database_cannot_store_is_a_sentence_and_leaves_nothing(tmp_path, postgres_url):
    async with open_saver(tmp_path / "one.db") as sqlite, open_saver(postgres_url) as postgresql:
        graph = await waiting(sqlite)
        await graph.aupdate_state(on("t"), {"turn": float("inf")}, as_node="join")
        await export_thread(sqlite, "t", tmp_path / "t.clew")
        with pytest.raises(CheckpointError, match="thread t has a value that PostgreSQL cannot store"):
            await import_thread(postgresql, tmp_path / "t.clew")
        assert await postgresql.anodes("t") == []
        assert await postgresql.blobs.references("t") == {}
