"""Whatever the model does, the run ends with a status, and every request and the stored history are valid."""

from typing import Any

import pytest
from chaos_model import HUGE, ChaosModel, chaos_models
from hypothesis import HealthCheck, given, settings
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langchain_openai.chat_models.base import _convert_message_to_dict
from langgraph.checkpoint.memory import InMemorySaver
from openai_rules import check_request

from clew.graphs import AgentSpec, RunContext, create_agent
from clew.state.messages import merge_messages
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

TASK = {"messages": [("user", "the task")]}
ENDS = {"finished", "stuck", "limit", "error"}


@tool
def echo(text: str) -> str:
    """Say it again."""
    return text


@tool
def flood(text: str) -> str:
    """Say it much too often."""
    return text[:2] * HUGE


@tool
def fail(text: str) -> str:
    """Fail."""
    raise ToolException(text)


@tool
def crash(text: str) -> Any:
    """Fail in a way that nobody thought of."""
    return {}[text]


@tool
def alone(text: str) -> str:
    """Say it with nobody beside."""
    return ""


alone.metadata = {"parallel": False}
TOOLS = [echo, flood, fail, crash, alone]
MODELS = chaos_models(
    {**{each.name: {"text": "hi"} for each in TOOLS}, "terminate": {"status": "success", "answer": "done"}},
    most_replies=8,
)


class Requests(AsyncCallbackHandler):
    """Keeps every request that a model gets."""

    def __init__(self):
        self.messages = []

    async def on_chat_model_start(self, serialized, messages, **kwargs):
        self.messages += messages


def refused(messages: list[BaseMessage]) -> None:
    """Raise `Refused` where OpenAI would refuse the messages, in the form in which its client sends them."""
    check_request({"model": "strict", "messages": [_convert_message_to_dict(message) for message in messages]})


async def run(model: ChaosModel, home, *, checkpointer=None, **fields):
    tools = [*TOOLS, *build_tools(["terminate"])]
    spec = AgentSpec(
        name="tester",
        system_prompt="Be good.",
        next_step_prompt="Go on.",
        tools=[each.name for each in tools],
        max_steps=12,
        max_observe=500,
        **fields,
    )
    graph = create_agent(
        spec, model=model, tools=tools, settings=Settings(home=home, max_input_tokens=9000), checkpointer=checkpointer
    )
    requests = Requests()
    config = {"configurable": {"thread_id": "t"}, "callbacks": [requests]}
    state = await graph.ainvoke(TASK, config, context=RunContext(headless=True))
    return graph, config, requests.messages, state


def check(requests, state):
    for request in requests:
        refused(request)
    refused(state["messages"])
    assert state["status"] in ENDS
    assert state["outcome"].reason
    ids = [message.id for message in state["messages"]]
    assert None not in ids
    assert len(set(ids)) == len(ids)
    calls = [call for message in state["messages"] if isinstance(message, AIMessage) for call in message.tool_calls]
    results = [message.tool_call_id for message in state["messages"] if isinstance(message, ToolMessage)]
    assert len({call["id"] for call in calls}) == len(calls)
    assert sorted(results) == sorted(call["id"] for call in calls)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


def chaos(examples):
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(max_examples=examples, deadline=None, suppress_health_check=slow)


@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@given(model=MODELS)
@chaos(6)
async def test_every_run_ends_and_every_request_is_valid(home, choice, model):
    _, _, requests, state = await run(model, home, tool_choice=choice)
    check(requests, state)


@given(model=MODELS)
@chaos(6)
async def test_every_run_on_a_thread_is_kept_as_it_was(home, model):
    graph, config, requests, state = await run(model, home, checkpointer=InMemorySaver())
    check(requests, state)
    kept = (await graph.aget_state(config)).values
    assert kept["messages"] == merge_messages([], [state["messages"]])
    assert (kept["status"], kept["outcome"]) == (state["status"], state["outcome"])


@given(model=MODELS)
@chaos(5)
async def test_a_thread_goes_on_with_a_new_task_after_any_run(home, model):
    graph, config, requests, _ = await run(model, home, checkpointer=InMemorySaver(), max_messages=12)
    state = await graph.ainvoke({"messages": [("user", "another")]}, config, context=RunContext(headless=True))
    check(requests, state)


@pytest.mark.soak
@pytest.mark.parametrize("choice", ["auto", "required", "none"])
@given(model=MODELS)
@chaos(500)
async def test_every_run_ends_at_length(home, choice, model):
    graph, config, requests, _ = await run(
        model, home, tool_choice=choice, max_messages=8, checkpointer=InMemorySaver()
    )
    state = await graph.ainvoke({"messages": [("user", "another")]}, config, context=RunContext(headless=True))
    check(requests, state)
