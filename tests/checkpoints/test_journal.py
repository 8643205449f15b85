"""The journal of tool calls."""

import pytest
from langchain_core.messages import ToolMessage

from clew.checkpoints.journal import CallKey, Entry, Journal

KEY = CallKey("t", "", "task", "call")
RESULT = ToolMessage("out", tool_call_id="call", name="bash", artifact={"exit_code": 0})


@pytest.fixture
def journal(saver):
    return Journal(saver)


async def test_a_call_that_was_not_begun_may_run(journal):
    assert await journal.begin(KEY, "1") == Entry(may_run=True)


async def test_a_call_that_is_done_gives_its_result_and_does_not_run_again(journal):
    await journal.begin(KEY, "1")
    await journal.finish(KEY, "1", RESULT)
    assert await journal.begin(KEY, "1") == Entry(may_run=False, result=RESULT)


async def test_a_call_that_was_cut_off_does_not_run_again(journal):
    await journal.begin(KEY, "1")
    assert await journal.begin(KEY, "1") == Entry(may_run=False)


async def test_a_call_that_waits_for_a_person_runs_again_once(journal):
    await journal.begin(KEY, "1")
    await journal.wait(KEY)
    assert await journal.begin(KEY, "1") == Entry(may_run=True)
    assert await journal.begin(KEY, "1") == Entry(may_run=False)


async def test_calls_of_other_threads_namespaces_tasks_and_ids_are_other_calls(journal):
    await journal.begin(KEY, "1")
    for field, value in [("thread", "u"), ("namespace", "n"), ("task", "other"), ("call", "other")]:
        assert (await journal.begin(KEY._replace(**{field: value}), "1")).may_run


async def test_entries_of_earlier_checkpoints_are_dropped_as_later_ones_come(journal):
    for number in range(200):
        key = KEY._replace(task=str(number))
        await journal.begin(key, f"{number:03}")
        await journal.finish(key, f"{number:03}", RESULT)
    assert len(await journal._database.fetch("SELECT task FROM journal")) < 100


async def test_an_agent_that_has_ended_leaves_no_entries(journal):
    await journal.begin(KEY, "1")
    await journal.begin(KEY._replace(namespace="step"), "1")
    await journal.close("t", "step")
    assert await journal._database.fetch("SELECT namespace FROM journal") == [("",)]


async def test_a_deleted_thread_leaves_no_entries(journal, saver):
    await journal.begin(KEY, "1")
    await saver.adelete_thread("t")
    assert await saver.database.fetch("SELECT call FROM journal") == []
