"""What a person asks of a run from outside is kept in order, once each, in every database."""

import asyncio

from clew.checkpoints.inbox import Inbox
from clew.checkpoints.open import open_saver


async def test_rows_come_in_the_order_in_which_they_were_sent_and_only_the_newer_ones(saver):
    inbox = Inbox(saver)
    for text in ("one", "two"):
        await inbox.send("t", "say", text)
    await inbox.send("t", "stop")
    await inbox.send("other", "pause")
    first, *rest = await inbox.read("t", 0)
    assert (first.kind, first.text) == ("say", "one")
    assert [(order.kind, order.text) for order in rest] == [("say", "two"), ("stop", "")]
    assert await inbox.read("t", first.number) == rest
    assert await inbox.read("t", rest[-1].number) == []


async def test_rows_that_are_sent_at_once_all_have_a_number_of_their_own(saver):
    inbox = Inbox(saver)
    await asyncio.gather(*[inbox.send("t", "say", str(n)) for n in range(20)])
    orders = await inbox.read("t", 0)
    assert sorted(int(order.text) for order in orders) == list(range(20))
    assert len({order.number for order in orders}) == 20


async def test_a_number_is_higher_than_what_the_thread_acted_on_whatever_the_clock_says(saver):
    ahead = 2**60
    inbox = Inbox(saver)
    await inbox.send("t", "say", "early", after=ahead)
    await inbox.send("t", "say", "late")
    assert [order.text for order in await inbox.read("t", ahead)] == ["early", "late"]


async def test_the_newest_stop_is_found_and_no_other_row(saver):
    inbox = Inbox(saver)
    assert await inbox.stop_after("t", 0) == 0
    await inbox.send("t", "stop")
    await inbox.send("t", "pause")
    stop, _ = await inbox.read("t", 0)
    assert await inbox.stop_after("t", 0) == stop.number
    assert await inbox.stop_after("t", stop.number) == 0


async def test_a_thread_that_is_deleted_takes_its_rows_along(saver):
    inbox = Inbox(saver)
    await inbox.send("t", "pause")
    await saver.adelete_thread("t")
    assert await inbox.read("t", 0) == []


async def test_what_is_said_is_masked_like_everything_that_is_stored(tmp_path):
    async with open_saver(tmp_path / "clew.db", secrets=["swordfish"]) as saver:
        await Inbox(saver).send("t", "say", "the word is swordfish")
        (order,) = await Inbox(saver).read("t", 0)
    assert "swordfish" not in order.text
    assert b"swordfish" not in (tmp_path / "clew.db").read_bytes()
