"""Which ids a reply may have."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage

from clew.nodes.reply import MOST_THREADS, KnownIds, stored_reply


def said(number):
    call = {"name": "look", "args": {}, "id": f"call{number}", "type": "tool_call"}
    return AIMessage("", tool_calls=[call], id=f"m{number}")


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 12), st.integers(0, 3)), max_size=30))
def test_ids_are_known_as_if_the_whole_history_were_read_each_time(moves):
    """Threads that go on, and go back to go on in another way."""
    known, threads = KnownIds(), {}
    for step, (thread, kept, added) in enumerate(moves):
        history = [*threads.get(thread, [HumanMessage("task", id=f"t{thread}")])[: kept + 1]]
        threads[thread] = [*history, *(said(100 * step + number) for number in range(added))]
        assert known.of(threads[thread]) == KnownIds().of(threads[thread])


def test_the_ids_of_the_newest_threads_alone_are_kept():
    known = KnownIds()
    for number in range(2 * MOST_THREADS):
        known.of([HumanMessage("task", id=f"t{number}"), said(number)])
    assert len(known._threads) == MOST_THREADS


def test_a_reply_gets_new_ids_for_those_that_the_thread_has_or_that_it_has_twice():
    history = [HumanMessage("task", id="t"), said(1)]
    again = AIMessage("", tool_calls=[*said(1).tool_calls, *said(2).tool_calls, *said(2).tool_calls], id="m1")
    stored = stored_reply(again, KnownIds().of(history))
    first, second, third = (call["id"] for call in stored.tool_calls)
    assert second == "call2"
    assert len({"call1", "call2", first, third}) == 4
    assert stored.id not in ("m1", "t", None)
