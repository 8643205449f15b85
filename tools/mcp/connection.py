"""One connection to an MCP server, by whichever transport it speaks."""

from __future__ import annotations

import asyncio
import math
import tempfile
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from ...state.errors import ToolFailure
from ...state.mcp import McpServer, unset_variable
from ..web.guard import PublicAddresses
from .sign_in import SignIn, authentication
from .transport import guarded_client

if TYPE_CHECKING:
    from mcp.client.session import ElicitationFnT, MessageHandlerFnT

READ_SECONDS = 300.0
"""Seconds that a stream of a server may be silent, if its calls may not take longer."""

SAID = 300
"""Characters of what a program wrote to its stderr that an error quotes."""


class Lost(ConnectionError):
    """A server cannot be reached, or its connection is gone; the message says why."""


@asynccontextmanager
async def connect(
    server: McpServer,
    *,
    sign_in: SignIn,
    lost: asyncio.Event,
    on_message: MessageHandlerFnT | None = None,
    on_elicitation: ElicitationFnT | None = None,
) -> AsyncIterator[Client]:
    """Open a connection, negotiated to the newest protocol that both sides speak.

    Args:
        server: Which one.
        sign_in: Where its tokens are kept, and how a person signs in.
        lost: Is set when the other side closes the connection.
        on_message: Gets the notifications of the server.
        on_elicitation: Answers its questions, where the protocol has it ask while a call runs.

    Raises:
        Lost: the program cannot be started, the address not reached, or the server not be talked to.
    """
    with await asyncio.to_thread(tempfile.TemporaryFile, "w+", encoding="utf-8", errors="replace") as said:
        try:
            # A cancellation of asyncio's own would reach into the SDK's shutdown, which hangs then.
            with anyio.fail_after(server.connect_timeout) as patience:
                client = Client(
                    _watched(await _transport(server, sign_in, said), lost),
                    message_handler=on_message,
                    elicitation_callback=on_elicitation,
                    client_info=Implementation(name="clew", version=await asyncio.to_thread(_version)),
                )
                async with client:
                    patience.deadline = math.inf
                    yield client
        except (Exception, BaseExceptionGroup) as error:  # whatever a transport raises, the agent is to go on
            cause = _first_leaf(error)
            raise Lost(await asyncio.to_thread(_reason, server, cause, said)) from cause


async def _transport(server: McpServer, sign_in: SignIn, said: TextIO) -> AbstractAsyncContextManager[Any]:
    if server.command is not None:
        _require_variables([server.command, *server.args, *server.env.values()])
        parameters = StdioServerParameters(
            command=server.command, args=list(server.args), env=server.env, cwd=server.cwd
        )
        return stdio_client(parameters, errlog=said)
    url = server.url or ""
    headers = {name: value.get_secret_value() for name, value in server.headers.items()}
    if server.bearer_token:
        headers["Authorization"] = f"Bearer {server.bearer_token.get_secret_value()}"
    _require_variables([url, *headers.values()])
    http = await guarded_client(
        PublicAddresses([urlsplit(url).hostname or ""]),
        headers=headers,
        seconds=server.connect_timeout,
        read_seconds=max(READ_SECONDS, server.timeout),
        auth=await authentication(server, sign_in),
    )
    return (
        sse_client(url, httpx_client_factory=lambda *_, **__: http)
        if server.transport == "sse"
        else _streamable(url, http)
    )


@asynccontextmanager
async def _streamable(url: str, http: httpx2.AsyncClient) -> AsyncIterator[Any]:
    async with http, streamable_http_client(url, http_client=http) as streams:
        yield streams


@asynccontextmanager
async def _watched(transport: AbstractAsyncContextManager[Any], lost: asyncio.Event) -> AsyncIterator[Any]:
    """The transport; `lost` is set when the other side closes it, which only calls in flight are told of."""
    async with transport as (incoming, outgoing), anyio.create_task_group() as tasks:
        writer, reader = anyio.create_memory_object_stream[Any](0)

        async def forward() -> None:
            async with writer:
                async for message in incoming:
                    await writer.send(message)
            lost.set()

        tasks.start_soon(forward)
        try:
            yield reader, outgoing
        finally:
            tasks.cancel_scope.cancel()


def _require_variables(texts: list[str]) -> None:
    for text in texts:
        if name := unset_variable(text):
            raise ToolFailure(f"it needs {name}, which is not set: set the environment variable, or write the value")


def _reason(server: McpServer, cause: BaseException, said: TextIO) -> str:
    """One sentence about why a connection failed. Blocking."""
    if isinstance(cause, TimeoutError):
        why = f"it did not answer within {server.connect_timeout:g} seconds"
    elif isinstance(cause, FileNotFoundError | PermissionError):
        why = f"cannot start {server.command!r}: {cause.strerror or cause}"
    elif isinstance(cause, httpx2.HTTPStatusError):
        why = f"it answered {cause.response.status_code} {cause.response.reason_phrase}".rstrip()
    elif isinstance(cause, httpx2.TransportError):
        why = f"{server.target} cannot be reached: {cause or type(cause).__name__}"
    else:
        why = str(cause) or type(cause).__name__
    said.seek(0)
    lines = said.read().strip().splitlines()
    return f"{why} (it said: {lines[-1][-SAID:]})" if lines else why


def _first_leaf(error: BaseException) -> BaseException:
    """The error that a group of them is about."""
    while isinstance(error, BaseExceptionGroup):
        inner = [each for each in error.exceptions if not isinstance(each, asyncio.CancelledError)]
        error = (inner or error.exceptions)[0]
    return error


def _version() -> str:
    try:
        return version("clew")
    except PackageNotFoundError:
        return "0"
