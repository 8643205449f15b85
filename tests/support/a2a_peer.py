"""An A2A server in the loop of the test, on a real socket, and the SDK's own client for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import uvicorn
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.types import Message, Part, Role, SendMessageConfiguration, SendMessageRequest, StreamResponse, Task, TaskState
from a2a.utils.constants import TransportProtocol
from starlette.types import ASGIApp

SECONDS = 60
"""Bound of one call: a loaded machine is slow."""


@asynccontextmanager
async def listening(app: ASGIApp, sock: socket.socket | None = None) -> AsyncIterator[str]:
    """Serve an app on a free port of the loopback, or on a socket; its URL."""
    sock = sock or socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="critical", timeout_graceful_shutdown=1))
    running = asyncio.create_task(server.serve([sock]))
    while not server.started:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    try:
        yield url_of(sock)
    finally:
        server.should_exit = True
        await running


def url_of(sock: socket.socket) -> str:
    """Address of a socket that listens."""
    return f"http://127.0.0.1:{sock.getsockname()[1]}"


@asynccontextmanager
async def client_of(
    url: str, *, binding: str = TransportProtocol.JSONRPC, legacy: bool = False, key: str = "", streaming: bool = True
) -> AsyncIterator[Client]:
    """The SDK's client of a server, over one binding, of the protocol 1.0 or 0.3."""
    headers = {"X-API-Key": key} if key else {}
    async with httpx.AsyncClient(timeout=SECONDS, headers=headers) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        wanted = "0.3" if legacy else "1.0"
        kept = [each for each in card.supported_interfaces if each.protocol_version == wanted]
        del card.supported_interfaces[:]
        card.supported_interfaces.extend(kept)
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], streaming=streaming)
        async with ClientFactory(config).create(card) as client:
            yield client


def message(text: str, *, task: str = "", context: str = "", parts: list[Part] | None = None) -> Message:
    """A user's message."""
    number = next(_NUMBERS)
    parts = [Part(text=text)] if parts is None else parts
    return Message(message_id=f"m{number}", role=Role.ROLE_USER, parts=parts, task_id=task, context_id=context)


async def send(client: Client, sent: Message, *, at_once: bool = False) -> list[StreamResponse]:
    """Send a message; all that came back."""
    request = SendMessageRequest(message=sent, configuration=SendMessageConfiguration(return_immediately=at_once))
    return [response async for response in client.send_message(request)]


async def send_for_task(client: Client, sent: Message, *, at_once: bool = False) -> Task:
    """Send a message without streaming; the task."""
    (response,) = await send(client, sent, at_once=at_once)
    assert response.HasField("task")
    return response.task


def state(task: Task) -> str:
    """Name of a task's state, such as `completed`."""
    return TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()


def said(task: Task) -> str:
    """What the task's status says."""
    return "\n".join(part.text for part in task.status.message.parts if part.text)


_NUMBERS = iter(range(1_000_000))
