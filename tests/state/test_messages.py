"""The reducer of the messages channel."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from clew.state.messages import merge_messages

ids = st.sampled_from(["a", "b", "c", "d"])
texts = st.sampled_from(["x", "y"])
messages = st.one_of(
    st.builds(lambda i, t: HumanMessage(t, id=i), ids, texts),
    st.builds(lambda i, t: AIMessage(t, id=i), ids, texts),
    st.builds(lambda i: RemoveMessage(id=i), ids),
    st.just(RemoveMessage(id=REMOVE_ALL_MESSAGES)),
    st.builds(lambda t: ("user", t), texts),
    texts,
    st.builds(lambda t: {"role": "assistant", "content": t}, texts),
)
writes = st.lists(st.one_of(st.lists(messages, max_size=4), messages), max_size=6)


@given(writes, writes, writes)
def test_two_batches_give_what_one_batch_gives(state, first, second):
    before = merge_messages([], state)
    assert merge_messages(merge_messages(before, first), second) == merge_messages(before, [*first, *second])


@given(writes)
def test_a_replay_gives_the_same_ids_again(batch):
    assert [m.id for m in merge_messages([], batch)] == [m.id for m in merge_messages([], batch)]


@given(writes)
def test_every_message_has_an_id_of_its_own(batch):
    found = [message.id for message in merge_messages([], batch)]
    assert None not in found
    assert len(set(found)) == len(found)


def test_a_message_with_a_known_id_takes_the_place_of_the_old_one():
    state = [HumanMessage("old", id="a"), AIMessage("kept", id="b")]
    assert [m.content for m in merge_messages(state, [[HumanMessage("edited", id="a")]])] == ["edited", "kept"]


def test_a_message_is_removed_by_its_id_and_an_unknown_id_does_nothing():
    state = [HumanMessage("one", id="a"), AIMessage("two", id="b")]
    assert merge_messages(state, [RemoveMessage(id="a"), RemoveMessage(id="unknown")]) == state[1:]


def test_remove_all_clears_what_came_before_it():
    state = [HumanMessage("one", id="a")]
    merged = merge_messages(state, [RemoveMessage(id=REMOVE_ALL_MESSAGES), HumanMessage("two", id="b")])
    assert [m.content for m in merged] == ["two"]


def test_the_state_given_is_not_changed():
    state = [HumanMessage("one", id="a")]
    merge_messages(state, [HumanMessage("edited", id="a"), AIMessage("two", id="b")])
    assert [m.content for m in state] == ["one"]
