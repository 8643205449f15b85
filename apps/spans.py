"""A run as OpenTelemetry spans: run, node, and the calls of models and tools below.

Names of attributes are those of OpenTelemetry's conventions for generative AI; our own begin with `clew.`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langgraph.errors import GraphBubbleUp
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

OPERATION = "gen_ai.operation.name"
SCALARS = (str, bool, int, float)

REQUEST = {
    "ls_model_name": "gen_ai.request.model",
    "ls_provider": "gen_ai.provider.name",
    "ls_temperature": "gen_ai.request.temperature",
    "ls_max_tokens": "gen_ai.request.max_tokens",
}
"""Attributes of a model call by LangChain's names for them."""


class SpanHandler(BaseCallbackHandler):
    """LangChain callbacks that make spans. What is said is left out unless `content` asks for it.

    It serves every graph: `graph.ainvoke(task, {"callbacks": [SpanHandler(tracer)]})`.
    """

    run_inline = True

    def __init__(
        self, tracer: Tracer, *, content: bool = False, redact: Callable[[Any], Any] = lambda value: value
    ) -> None:
        """Begin.

        Args:
            tracer: makes the spans.
            content: whether messages, arguments and results are attributes too.
            redact: takes the secrets out of them.
        """
        self._tracer, self._content, self._redact = tracer, content, redact
        self._spans: dict[UUID, Span] = {}

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **details: Any
    ) -> None:
        """A graph or a node begins; anything else that LangChain calls a chain is a node too."""
        metadata, name = details.get("metadata") or {}, details.get("name") or "run"
        if parent_run_id is not None and metadata.get("langgraph_node") == name:
            own = {"clew.node": name, "clew.superstep": metadata.get("langgraph_step")}
            self._start(run_id, parent_run_id, name, own)
            return
        thread = metadata.get("thread_id")
        own = {OPERATION: "invoke_agent", "gen_ai.agent.name": name, "gen_ai.conversation.id": thread}
        self._start(run_id, parent_run_id, f"invoke_agent {name}", own)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **details: Any) -> None:
        """A graph or a node is done."""
        own: dict[str, Any] = {}
        if isinstance(outputs, Mapping) and {"status", "outcome"} <= outputs.keys():
            progress = outputs.get("progress") or {}
            own = {"clew.status": outputs["status"], "clew.iterations": progress.get("steps")}
        self._end(run_id, own)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **details: Any) -> None:
        """A graph or a node failed, or waits for a person."""
        self._fail(run_id, error)

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **details: Any,
    ) -> None:
        """A model is asked."""
        metadata = details.get("metadata") or {}
        own = {attribute: metadata.get(name) for name, attribute in REQUEST.items()}
        said = [message for batch in messages for message in batch]
        own |= {OPERATION: "chat", **self._told("gen_ai.input.messages", [_message(message) for message in said])}
        name = f"chat {metadata.get('ls_model_name') or ''}".strip()
        self._start(run_id, parent_run_id, name, own, SpanKind.CLIENT)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **details: Any) -> None:
        """A model replied."""
        replies = [each for batch in response.generations for each in batch if isinstance(each, ChatGeneration)]
        own: dict[str, Any] = {}
        for reply in (each.message for each in replies):
            if isinstance(reply, AIMessage):
                own |= _reply(reply) | self._told("gen_ai.output.messages", [_message(reply)])
        self._end(run_id, own)

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **details: Any) -> None:
        """A model call failed."""
        self._fail(run_id, error)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **details: Any
    ) -> None:
        """A tool is called."""
        name = (serialized or {}).get("name") or details.get("name") or "tool"
        own = {OPERATION: "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.type": "function"}
        own |= {"gen_ai.tool.call.id": details.get("tool_call_id")}
        own |= self._told("gen_ai.tool.call.arguments", details.get("inputs") or input_str)
        self._start(run_id, parent_run_id, f"execute_tool {name}", own)

    def on_tool_end(self, output: Any, *, run_id: UUID, **details: Any) -> None:
        """A tool gave a result."""
        own: dict[str, Any] = self._told("gen_ai.tool.call.result", output.text if _is_result(output) else str(output))
        if _is_result(output):
            own["gen_ai.tool.call.id"] = output.tool_call_id
            if output.status == "error":
                own["error.type"] = "tool_error"
        self._end(run_id, own)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **details: Any) -> None:
        """A tool failed, or waits for a person."""
        self._fail(run_id, error)

    def close(self) -> None:
        """End the spans that nobody ended, such as those of a run that was cancelled."""
        for run_id in list(self._spans):
            self._end(run_id, {})

    def _start(
        self,
        run_id: UUID,
        parent: UUID | None,
        name: str,
        attributes: Mapping[str, Any],
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> None:
        above = self._spans.get(parent) if parent else None
        context = set_span_in_context(above) if above else None
        self._spans[run_id] = self._tracer.start_span(name, context, kind=kind, attributes=_plain(attributes))

    def _end(self, run_id: UUID, attributes: Mapping[str, Any]) -> None:
        if span := self._spans.pop(run_id, None):
            span.set_attributes(_plain(attributes))
            if "error.type" in attributes:
                span.set_status(StatusCode.ERROR)
            span.end()

    def _fail(self, run_id: UUID, error: BaseException) -> None:
        # A question is no failure, and the text of an error may say what was said.
        told = {"clew.waits": True} if isinstance(error, GraphBubbleUp) else {"error.type": type(error).__qualname__}
        self._end(run_id, told)

    def _told(self, name: str, content: Any) -> dict[str, str]:
        return {name: json.dumps(self._redact(content), ensure_ascii=False, default=str)} if self._content else {}


def _reply(reply: AIMessage) -> dict[str, Any]:
    usage: Mapping[str, Any] = reply.usage_metadata or {}
    reason = reply.response_metadata.get("finish_reason")
    return {
        "gen_ai.response.model": reply.response_metadata.get("model_name"),
        "gen_ai.response.finish_reasons": [reason] if isinstance(reason, str) else None,
        "gen_ai.usage.input_tokens": usage.get("input_tokens"),
        "gen_ai.usage.output_tokens": usage.get("output_tokens"),
        "gen_ai.usage.cache_read.input_tokens": (usage.get("input_token_details") or {}).get("cache_read"),
    }


def _message(message: BaseMessage) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "content": message.text}] if message.text else []
    if isinstance(message, AIMessage):
        parts += [
            {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": call["args"]}
            for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        parts = [{"type": "tool_call_response", "id": message.tool_call_id, "response": message.text}]
    roles = {"human": "user", "ai": "assistant"}
    return {"role": roles.get(message.type, message.type), "parts": parts}


def _is_result(output: Any) -> bool:
    return isinstance(output, ToolMessage)


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in attributes.items() if isinstance(value, SCALARS)}
    lists = {name: value for name, value in attributes.items() if isinstance(value, Sequence) and name not in kept}
    return {**kept, **lists}
