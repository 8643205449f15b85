"""What is stored has LangGraph's own form, whichever way it came to it."""

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send, TimeoutPolicy

from clew.checkpoints.redact import Redactor
from clew.checkpoints.serializer import StateSerializer

SEND = Send("act", {"call": {"name": "look", "args": {"n": 1}, "id": "c1"}, "said": AIMessage("I look.", id="a1")})
TIMED = Send("act", {"call": {}}, timeout=TimeoutPolicy(run_timeout=1.0))


@pytest.mark.parametrize(
    "value",
    [
        SEND,
        TIMED,
        [SEND],
        {"v": 4, "channel_values": {"__pregel_tasks": [SEND, TIMED, SEND], "status": "running"}},
        {"v": 4, "channel_values": {"__pregel_tasks": []}},
        {"v": 4, "channel_values": {"status": "running"}},
        {"channel_values": None},
    ],
)
def test_a_value_is_stored_byte_for_byte_as_langgraph_stores_it_and_stays_as_it_was(value):
    before = repr(value)
    stored = StateSerializer(Redactor(), checksums=False).dumps_typed(value)
    assert stored == JsonPlusSerializer(pickle_fallback=False).dumps_typed(value)
    assert repr(value) == before


def test_a_stored_send_comes_back():
    serializer = StateSerializer(Redactor())
    assert serializer.loads_typed(serializer.dumps_typed(SEND)) == SEND
