"""One thread that cannot be read is named by whoever meets it, and the others are as they were."""

from __future__ import annotations

import asyncio
import json

import pytest

from clew.checkpoints.open import open_saver
from clew.checkpoints.threads import thread_registry


@pytest.fixture
def two(clew, script, folder):
    """A thread `good`, and one `bad` whose record a newer clew wrote."""
    for thread in ("good", "bad"):
        assert clew("run", "it", "--model", script("All done."), "--thread", thread).code == 0

    async def colour():
        async with open_saver(folder / ".clew/clew.db") as saver:
            record = (await thread_registry(saver).get("bad")).model_dump(mode="json")
            record["agents"][0]["colour"] = "red"
            put = "UPDATE threads SET type = ?, record = ? WHERE thread = 'bad'"
            await saver.database.write((put, saver.serde.dumps_typed(record)))

    asyncio.run(colour())


SENTENCE = "clew: thread bad cannot be read (agents.0.colour: Extra inputs are not permitted): if a newer clew wrote it"


def test_the_list_has_the_others_and_names_it(clew, two):
    for result in (clew("threads"), clew("threads", "--json")):
        assert result.code == 1
        assert "good" in result.out
        assert "bad" not in result.out
        assert result.err.startswith(SENTENCE)
        assert len(result.err.splitlines()) == 1


def test_what_is_asked_of_it_is_refused_in_a_sentence(clew, two):
    for argv in (
        ["show", "bad"],
        ["history", "bad"],
        ["resume", "bad"],
        ["export", "bad"],
        ["fork", "bad", "--at", "0"],
    ):
        result = clew(*argv)
        assert (result.code, result.out) == (1, "")
        assert result.err.startswith(SENTENCE)
    assert clew("run", "more", "--thread", "bad").err.startswith(SENTENCE)


def test_the_others_can_be_run_shown_exported_forked_and_begun(clew, script, two):
    assert clew("run", "again", "--thread", "good", "--model", script("no", "More.", name="two")).code == 0
    assert clew("run", "again", "--model", script("More.", name="one")).code == 0
    assert clew("show", "good").code == 0
    assert clew("export", "good").code == 0
    assert clew("import", "good.clew", "--thread", "other").code == 0
    newest = json.loads(clew("history", "good", "--json").out.splitlines()[0])["checkpoint"]
    assert clew("fork", "good", "--at", newest, "--to", "fork").code == 0
    assert clew("fork", "good", "--at", newest, "--to", "bad").code == 2
    assert clew("import", "good.clew", "--thread", "bad").code == 2


def test_it_can_be_deleted(clew, two):
    result = clew("delete", "bad")
    assert (result.code, result.err) == (0, "")
    assert result.out == "deleted thread bad; its files stay in its workspace, which its record no longer tells\n"
    listed = clew("threads")
    assert (listed.code, listed.err, "bad" in listed.out) == (0, "", False)
    assert "bad" not in clew("du").out
