"""The MCP server: each graph of ours a tool, and our own tools on request."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ClientCapabilities,
    ContentBlock,
    ElicitationCapability,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    ImageContent,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from ..state.errors import ClewError, UsageError
from ..state.stream import QuestionEvent
from ..tools.mcp.pins import write_private
from ..tools.traits import traits_of
from .mcp_runs import RunArguments, RunResult, Runs, ServedGraph
from .serving.callers import LOCAL

LOGGER = "clew.serve.mcp"

NAME = "clew"
"""Name of the server, which the state of waiting calls is bound to."""

KEY_FILE = Path("mcp", "server.key")
"""Where the home folder has the key that seals the state of waiting calls."""

WAITING_SECONDS = 30 * 24 * 3600.0
"""Seconds for which a call that asked may be taken up again."""

LONGEST_NOTE = 200
"""Characters of one notice of progress."""


class McpServer:
    """Answers the requests of MCP clients.

    Args:
        runs: Runs the graphs.
        graphs: The graphs that are served.
        tools: Tools of ours that are served beside them.
        key: Seals the state that a client holds while a person is asked; with the same key another process goes on.
    """

    def __init__(self, runs: Runs, graphs: Sequence[ServedGraph], tools: Sequence[BaseTool], key: bytes) -> None:
        self._runs = runs
        self._graphs = {graph.name: graph for graph in graphs}
        self._tools = {tool.name: tool for tool in tools}
        self.server: Server[Any] = Server(
            NAME, version=version(NAME), on_list_tools=self._list, on_call_tool=self._call
        )
        """The server of the SDK, to be run on a transport."""
        security = RequestStateSecurity(keys=[key], ttl=WAITING_SECONDS, bind_principal=_caller)
        self.server.middleware.append(RequestStateBoundary(security, default_audience=NAME))

    async def _list(self, _: ServerRequestContext[Any], __: PaginatedRequestParams | None) -> ListToolsResult:
        graphs = [_graph_tool(graph) for graph in self._graphs.values()]
        return ListToolsResult(tools=[*graphs, *map(_own_tool, self._tools.values())])

    async def _call(
        self, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        try:
            if params.name in self._graphs:
                return await self._run(self._graphs[params.name], context, params)
            if params.name in self._tools:
                return await self._use(self._tools[params.name], context, params.arguments or {})
            raise UsageError(f"no tool {params.name!r}; there are: {', '.join([*self._graphs, *self._tools])}")
        except ClewError as error:
            return _failed(str(error))
        except Exception:  # a stranger is told nothing of what went wrong inside
            logging.getLogger(LOGGER).exception("a call of %s failed", params.name)
            return _failed("the call failed; the log of the server says why")

    async def _run(
        self, graph: ServedGraph, context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        caller, told = _caller(context), 0

        async def tell(said: str) -> None:
            nonlocal told
            told += 1
            await context.session.report_progress(told, None, said[:LONGEST_NOTE])

        if params.request_state is not None:
            answers = _answers(params.input_responses or {})
            record, input = await self._runs.answered(params.request_state, caller, answers)
        else:
            record, input = await self._runs.begin(graph, caller, _arguments(params.arguments or {}))
        while True:
            result, questions = await self._runs.run(record, input, tell)
            if not questions or not _can_be_asked(context):
                return _finished(result)
            requests = {question.id: _request(question) for question in questions}
            if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
                return InputRequiredResult(input_requests={**requests}, request_state=result.thread)
            answers = _answers({name: await _ask(context, asked) for name, asked in requests.items()})
            if not answers:
                return _finished(result)
            record, input = await self._runs.answered(result.thread, caller, answers)

    async def _use(
        self, tool: BaseTool, context: ServerRequestContext[Any], arguments: Mapping[str, Any]
    ) -> CallToolResult:
        call = {"type": "tool_call", "id": secrets.token_hex(8), "name": tool.name, "args": dict(arguments)}
        try:
            answer = await tool.ainvoke(call, {"configurable": {"thread_id": f"mcp-tools-{_caller(context)}"}})
        except (ToolException, ValidationError) as error:
            return _failed(str(error))
        blocks = _blocks(answer.content if isinstance(answer, ToolMessage) else str(answer))
        return CallToolResult(content=blocks)


def served_key(home: Path) -> bytes:
    """The key in the home folder, made the first time. Blocking."""
    file = home / KEY_FILE
    if not file.exists():
        write_private(file, secrets.token_hex(32))
    return bytes.fromhex(file.read_text(encoding="utf-8").strip())


def _caller(context: ServerRequestContext[Any]) -> str:
    user = context.request.scope.get("user") if context.request is not None else None
    return str(getattr(user, "display_name", LOCAL)) if user is not None else LOCAL


def _can_be_asked(context: ServerRequestContext[Any]) -> bool:
    return context.session.check_client_capability(ClientCapabilities(elicitation=ElicitationCapability()))


def _arguments(given: Mapping[str, Any]) -> RunArguments:
    try:
        return RunArguments.model_validate(given)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise UsageError(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}") from error


def _request(question: QuestionEvent) -> ElicitRequest:
    answer: dict[str, Any] = {"type": "string", "description": question.question}
    if question.options:
        answer["description"] = f"One of: {', '.join(question.options)}"
    schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
    shown = "\n".join([question.question, *(call["preview"]["text"] for call in question.data.get("calls", []))])
    return ElicitRequest(params=ElicitRequestFormParams(message=shown, requested_schema=schema))


async def _ask(context: ServerRequestContext[Any], request: ElicitRequest) -> ElicitResult:
    asked = request.params
    if not isinstance(asked, ElicitRequestFormParams):
        raise TypeError("questions are forms")
    return await context.session.elicit_form(asked.message, asked.requested_schema, context.request_id)


def _answers(responses: Mapping[str, Any]) -> dict[str, str]:
    """The texts that persons gave, by question; one who declined gave none, and the thread goes on waiting."""
    accepted = {name: each for name, each in responses.items() if isinstance(each, ElicitResult) and each.content}
    return {
        name: str((each.content or {}).get("answer", "")) for name, each in accepted.items() if each.action == "accept"
    }


def _finished(result: RunResult) -> CallToolResult:
    text = result.answer or "\n".join(each.question for each in result.questions) or f"{result.status}: {result.reason}"
    failed = result.status not in ("finished", "waiting") or not result.success
    content: list[ContentBlock] = [TextContent(text=text)]
    return CallToolResult(content=content, structured_content=result.model_dump(mode="json"), is_error=failed)


def _failed(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=sentence)], is_error=True)


def _blocks(content: str | list[Any]) -> list[ContentBlock]:
    if isinstance(content, str):
        return [TextContent(text=content)]
    blocks: list[ContentBlock] = []
    for block in content:
        if isinstance(block, dict) and block.get("type") == "image":
            blocks.append(ImageContent(data=block["base64"], mime_type=block["mime_type"]))
        else:
            blocks.append(TextContent(text=block["text"] if isinstance(block, dict) else str(block)))
    return blocks


def _graph_tool(graph: ServedGraph) -> Tool:
    return Tool(
        name=graph.name,
        description=graph.description,
        input_schema=RunArguments.model_json_schema(),
        output_schema=RunResult.model_json_schema(),
    )


def _own_tool(tool: BaseTool) -> Tool:
    function, traits = convert_to_openai_tool(tool)["function"], traits_of(tool)
    hints = ToolAnnotations(
        read_only_hint=traits.risk == "low",
        destructive_hint=traits.risk not in ("low", "medium"),
        idempotent_hint=traits.idempotent,
    )
    return Tool(
        name=tool.name,
        description=function["description"],
        input_schema=function["parameters"],
        annotations=hints,
    )
