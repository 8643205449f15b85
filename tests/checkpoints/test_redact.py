"""No secret reaches a checkpoint, a blob or a log: the bytes of the files are searched for them."""

import io
import json
import logging
import time
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labyrinth import say
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.graph import END, START, StateGraph
from langgraph.types import interrupt

from clew.checkpoints.open import open_saver
from clew.checkpoints.redact import MASK, RedactingFilter, Redactor
from clew.checkpoints.serializer import StateSerializer
from clew.checkpoints.threads import thread_registry
from clew.state.agent import AgentState
from clew.state.outcome import Outcome
from clew.state.secret_shapes import LOGIN, LONG_SHAPES, MARKED_SHAPES
from clew.state.thread import ThreadRecord

SHAPES = [*LONG_SHAPES, *(shape.pattern for shape in MARKED_SHAPES), rf"{LOGIN}@"]

KNOWN = 'correct "horse" battery'

KNOWN_KEY = "k3yOfNoKnownShape12345"

SHAPED = [
    "sk-" + "proj-" + "a1B2" * 10,
    "ghp_" + "a1B2" * 9,
    "AKIA" + "ABCD1234" * 2,
    "AIza" + "a1B2-" * 7,
    "xoxb-" + "1234567890-abcdef",
    "eyJ" + "hbGciOiJI.eyJzdWIiOiIx" + "MjM0.SflKxwRJSMeKKF2QT4",
    *("gh" + kind + "_" + "a1B2" * 9 for kind in "ours"),
    *(kind + "k_" + "live_" + "a1B2" * 6 for kind in "sr"),
    "github_" + "pat_" + "a1B2" * 6 + "_" + "a1B2" * 14,
    "xai-" + "a1B2" * 20,
    "ya29." + "a0-B_" * 8,
    "hf_" + "aBcD" * 9,
    "gsk_" + "a1B2" * 13,
    "lsv2_" + "pt_" + "a1b2" * 8 + "_" + "a1b2c3",
    "npm_" + "a1B2" * 9,
    "pypi-" + "AgE-_" * 12,
    "glpat-" + "a1-_" * 5,
    "ASIA" + "ABCD1234" * 2,
    "tvly-" + "dev-" + "a1B2" * 8,
    "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----",
]

HARMLESS = [
    "task-list and disk-usage, at https://example.com/sk-fading-circle-and-so-on",
    "a commit 771df13c0ffee771df13c0ffee771df13c0ffee7 and a uuid 0e5cf4ab-0b5a-4a0e-9d6d-1d9a2a3bd4f5",
    "the word Bearer stands here, and eyJ there",
    "task_live_0123456789abcdef0123, high_score_1, AKIA and hf_hub_download_of_a_large_file_by_its_name",
    "postgresql://{user}:{password}@{host}/db, https://$USER:$PASSWORD@host, mail ann@example.com at http://[::1]:80/",
]


async def test_no_secret_is_in_the_files_after_a_run_that_is_full_of_them(tmp_path):
    secrets = "\n".join([KNOWN, *SHAPED])

    async def leak(state):
        call = {"name": "bash", "args": {"command": f"export KEY='{secrets}'"}, "id": "1", "type": "tool_call"}
        reply = AIMessage([{"type": "text", "text": secrets}], id="a", tool_calls=[call])
        result = ToolMessage(secrets, tool_call_id="1", id="b", artifact={"deep": [{secrets: secrets}]})
        return {"messages": [reply, result], "outcome": Outcome(success=True, reason=secrets, answer=secrets)}

    async def ask(state):
        return {"messages": [say(interrupt({"question": secrets}))]}

    builder = StateGraph(AgentState)
    builder.add_node("leak", leak)
    builder.add_node("ask", ask)
    builder.add_edge(START, "leak")
    builder.add_edge("leak", "ask")
    builder.add_edge("ask", END)
    config = {"configurable": {"thread_id": "t", "note": secrets}, "metadata": {"tag": secrets}}
    async with open_saver(tmp_path / "clew.db", secrets=[KNOWN]) as saver:
        graph = builder.compile(checkpointer=saver)
        await graph.ainvoke({"messages": [HumanMessage(secrets, id="h")]}, config, durability="sync")
        await thread_registry(saver).put(ThreadRecord(thread="t", task=secrets))
        await saver.blobs.put("t", secrets)
        state = await graph.aget_state(config)
        masked = "\n".join([MASK] * (1 + len(SHAPED)))
        assert state.values["messages"][0].content == masked
        assert state.values["messages"][1].tool_calls[0]["args"]["command"] == f"export KEY='{masked}'"
        assert state.values["messages"][2].artifact == {"deep": [{masked: masked}]}
        assert state.values["outcome"].answer == masked
        assert state.interrupts[0].value == {"question": masked}
        files = [path.read_bytes() for path in tmp_path.iterdir()]
    files += [path.read_bytes() for path in tmp_path.iterdir()]
    assert len(files) > 4
    for secret in ["horse", *(line for shaped in SHAPED for line in shaped.split("\n")[:2])]:
        assert not any(secret.encode() in content for content in files), secret


@pytest.mark.parametrize("secret", SHAPED)
def test_a_shape_is_masked_wherever_it_stands(secret):
    assert Redactor().text(f"key={secret}, and on") == f"key={MASK}, and on"


@pytest.mark.parametrize("secret", SHAPED)
def test_a_shape_is_masked_in_json_within_a_text(secret):
    text = json.dumps({"command": f"one\n{secret}\ntwo"})
    assert json.loads(Redactor().text(text)) == {"command": f"one\n{MASK}\ntwo"}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_resembles_a_key_stays(text):
    assert Redactor().text(text) == text


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(value=values)
def test_a_value_without_secrets_is_not_changed(value):
    serializer = StateSerializer(Redactor([KNOWN]))
    assert serializer.loads_typed(serializer.dumps_typed(value)) == value


@given(value=values, secret=st.sampled_from([KNOWN, KNOWN_KEY, *SHAPED]))
def test_only_the_secret_of_a_value_is_changed(value, secret):
    serializer = StateSerializer(Redactor([KNOWN, KNOWN_KEY]))
    message = HumanMessage(f"use {secret} for it", id="h")
    back = serializer.loads_typed(serializer.dumps_typed([value, message, {"after": value}]))
    assert back == [value, HumanMessage(f"use {MASK} for it", id="h"), {"after": value}]


@pytest.mark.parametrize("login", ["ann:hunter2", ":ticket-of-redis", "x-access-token:abc", "ann:p%40ss!"])
def test_user_and_password_of_an_address_are_masked(login):
    text = f"clone https://{login}@example.com/a.git and mail ann@example.com"
    assert Redactor().text(text) == f"clone https://{MASK}@example.com/a.git and mail ann@example.com"
    said = json.dumps({"command": text})
    assert json.loads(Redactor().text(said)) == {"command": Redactor().text(text)}


@given(before=st.text(), shape=st.sampled_from(SHAPES).flatmap(partial(st.from_regex, fullmatch=True)), after=st.text())
def test_nothing_of_the_shape_of_a_secret_goes_unsuspected(before, shape, after):
    assert Redactor().suspects(f"{before}{shape}{after}".encode("utf-8", "surrogatepass"))


@given(before=st.text(), secret=st.text(min_size=8), after=st.text())
def test_no_known_secret_goes_unsuspected_or_unmasked(before, secret, after):
    redactor = Redactor([secret])
    assert redactor.suspects(f"{before}{secret}{after}".encode("utf-8", "surrogatepass"))
    assert secret not in redactor.text(f"{before}{secret}{after}").replace(MASK, "")
    assert secret.encode("utf-8", "surrogatepass") not in redactor.raw(secret.encode("utf-8", "surrogatepass"))


def test_a_log_holds_no_secret_not_even_in_a_traceback():
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(Redactor([KNOWN])))
    logger = logging.Logger("t")
    logger.addHandler(handler)
    try:
        raise ValueError(f"cannot log in with {KNOWN}")
    except ValueError:
        logger.exception("tried %s", SHAPED[0])
    assert f"tried {MASK}" in stream.getvalue()
    assert f"ValueError: cannot log in with {MASK}" in stream.getvalue()
    assert "horse" not in stream.getvalue()


def test_searching_costs_a_fraction_of_encoding():
    message = ToolMessage("all is well, task-force of https://example.com/a/b \n" * 40, tool_call_id="1", id="b")
    serializer, redactor = StateSerializer(Redactor([KNOWN])), Redactor([KNOWN])
    data = serializer.dumps_typed([message])[1]
    assert cost(lambda: redactor.suspects(data)) < cost(lambda: serializer.dumps_typed([message]))


def cost(work):
    """CPU seconds of the cheapest of a few hundred calls."""
    best = 1.0
    for _ in range(300):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return best
