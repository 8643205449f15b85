"""A run as OpenTelemetry spans."""

import json

import pytest
from langchain_core.tools import ToolException, tool
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from trace_collector import trace_collector

from clew.apps.drive import drive
from clew.apps.log import redactor
from clew.apps.spans import SpanHandler
from clew.apps.telemetry import telemetry
from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools

SECRET = "sk-abcdefghijklmnop"
USED = {"input_tokens": 100, "cached_tokens": 60, "output_tokens": 7}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail(reason: str) -> str:
    """Fail."""
    raise ToolException(reason)


def say(name, **args):
    return {"tool_calls": [{"name": name, "args": args}], "usage": USED}


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def handler(exporter):
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return lambda **options: SpanHandler(provider.get_tracer("test"), **options)


@pytest.fixture
def agent(tmp_path):
    def make(*replies, name="adder", checkpointer=None, **options):
        tools = [add, fail, *build_tools(["terminate", "ask_human"])]
        spec = AgentSpec(name=name, tools=[each.name for each in tools], delegates=tuple(options.get("agents", ())))
        model, settings = ScriptedModel(replies=list(replies)), Settings(home=tmp_path)
        return create_agent(spec, model=model, tools=tools, settings=settings, checkpointer=checkpointer, **options)

    return make


async def run(graph, handler, thread="t"):
    input = {"messages": [("user", f"add them, my key is {SECRET}")]}
    return [event async for event in drive(graph, thread, input, callbacks=[handler])]


def line(span, spans):
    """Names from the outermost span to this one."""
    above = {each.context.span_id: each for each in spans}
    names = [span.name]
    while span.parent and (span := above.get(span.parent.span_id)):
        names.insert(0, span.name)
    return names


async def test_a_run_is_a_span_with_its_nodes_and_their_calls_below(agent, handler, exporter, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        await run(agent(say("add", a=1, b=2), say("terminate", status="success"), checkpointer=saver), handler())
    spans = exporter.get_finished_spans()
    lines = [line(span, spans) for span in spans]
    assert ["invoke_agent adder", "think", "chat"] in [[*names[:2], names[-1].split()[0]] for names in lines]
    assert ["invoke_agent adder", "act", "execute_tool add"] in lines
    assert ["invoke_agent adder", "terminate"] in lines
    assert {len({span.context.trace_id for span in spans}), sum(span.parent is None for span in spans)} == {1}
    root = next(span for span in spans if span.parent is None)
    assert root.attributes["gen_ai.conversation.id"] == "t"
    assert (root.attributes["clew.status"], root.attributes["clew.iterations"]) == ("finished", 2)


async def test_calls_have_the_attributes_of_the_conventions(agent, handler, exporter, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        await run(agent(say("add", a=1, b=2), say("terminate", status="success"), checkpointer=saver), handler())
    by_operation = {}
    for span in exporter.get_finished_spans():
        by_operation.setdefault(span.attributes.get("gen_ai.operation.name"), []).append(span)
    chat, execute = by_operation["chat"][0], by_operation["execute_tool"][0]
    assert chat.kind is SpanKind.CLIENT
    assert chat.attributes["gen_ai.usage.input_tokens"] == 100
    assert chat.attributes["gen_ai.usage.output_tokens"] == 7
    assert chat.attributes["gen_ai.usage.cache_read.input_tokens"] == 60
    assert chat.attributes["gen_ai.response.model"] == "scripted"
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("tool_calls",)
    assert execute.attributes["gen_ai.tool.name"] == "add"
    assert execute.attributes["gen_ai.tool.call.id"].startswith("call_")
    assert by_operation["invoke_agent"][0].attributes["gen_ai.agent.name"] == "adder"


@pytest.mark.parametrize("content", [False, True])
async def test_what_is_said_is_told_only_if_asked_for_and_never_a_secret(agent, handler, exporter, tmp_path, content):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        graph = agent(say("fail", reason=f"no {SECRET} here"), say("terminate", status="success"), checkpointer=saver)
        await run(graph, handler(content=content, redact=redactor()))
    told = "\n".join(span.to_json() for span in exporter.get_finished_spans())
    assert SECRET not in told
    assert ("add them" in told) is content
    assert ("no [redacted] here" in told) is content
    if content:
        chat = next(span for span in exporter.get_finished_spans() if span.name.startswith("chat"))
        assert json.loads(chat.attributes["gen_ai.input.messages"])[-1]["role"] == "user"


async def test_a_failed_tool_is_an_error_and_a_question_is_none(agent, handler, exporter, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        graph = agent(say("fail", reason="no"), say("ask_human", inquire="Why?"), checkpointer=saver)
        await run(graph, handler())
    spans = {span.name: span for span in exporter.get_finished_spans()}
    failed, asked = spans["execute_tool fail"], spans["execute_tool ask_human"]
    assert (failed.status.status_code, failed.attributes["error.type"]) == (StatusCode.ERROR, "ToolException")
    assert (asked.status.status_code, asked.attributes["clew.waits"]) == (StatusCode.UNSET, True)


async def test_a_delegate_is_an_agent_below_its_node(agent, handler, exporter, tmp_path):
    async with open_saver(str(tmp_path / "t.db")) as saver:
        child = agent(say("terminate", status="success", answer="3"), name="child")
        asks = say("delegate", agent="child", task="add")
        graph = agent(asks, say("terminate", status="success"), agents={"child": child}, checkpointer=saver)
        await run(graph, handler())
    spans = exporter.get_finished_spans()
    lines = [line(span, spans) for span in spans]
    assert ["invoke_agent adder", "delegate_child", "invoke_agent child", "terminate"] in lines


async def test_without_the_setting_there_are_no_callbacks(tmp_path):
    async with telemetry(Settings(home=tmp_path)) as callbacks:
        assert callbacks == []


async def test_the_settings_alone_send_the_spans_to_a_collector(agent, tmp_path):
    with trace_collector() as collector:
        settings = Settings(home=tmp_path, telemetry={"enabled": True, "endpoint": collector.address})
        async with open_saver(str(tmp_path / "t.db")) as saver, telemetry(settings) as callbacks:
            graph = agent("It is 3.", checkpointer=saver)
            [_ async for _ in drive(graph, "t", {"messages": [("user", "add")]}, callbacks=callbacks)]
        assert {path for path, _ in collector.received} == {"/v1/traces"}
        assert {"invoke_agent adder", "think"} <= set(collector.span_names)
        resource = collector.requests[0].resource_spans[0].resource
    assert {item.key: item.value.string_value for item in resource.attributes}["service.name"] == "clew"
