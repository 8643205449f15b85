"""Tasks at an agent elsewhere, over A2A with the SDK's client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar
from urllib.parse import urlsplit

import httpx
from a2a.client import Client, ClientConfig, ClientFactory
from a2a.client.card_resolver import A2ACardResolver
from a2a.client.errors import A2AClientError, AgentCardResolutionError
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskState,
    TaskStatus,
)
from a2a.utils.constants import TransportProtocol
from a2a.utils.errors import A2AError, TaskNotCancelableError

from ...state.errors import ToolFailure
from ...state.remote import AT_WORK, RemoteTask
from ..web.guard import PublicAddresses
from ..web.transport import guarded_client
from .failures import told_failures

T = TypeVar("T")

SECONDS = 60.0
"""Bound of one request."""

POLLING = 1.0
"""Seconds between two looks at a task whose stream broke or is not offered."""

RECENT = 50
"""Newest tasks among which one is looked for that may have been begun already."""


class Remote:
    """An agent elsewhere. Get one from `open_remote`."""

    def __init__(self, address: str, client: Client, streaming: Client, patience: float) -> None:
        self._address = address
        self._client = client
        self._streaming = streaming
        self._patience = patience

    async def submit(self, parts: Sequence[Part], message: str, task: str, context: str) -> RemoteTask:
        """Begin a task, or answer a question of one; a message that the agent has already is not sent again.

        Args:
            parts: What is said.
            message: Id of the message, the same whenever it is sent.
            task: Id of the task that asks; empty for a new one.
            context: Id of the conversation; empty for a new one.

        Raises:
            ToolFailure: the agent refuses it, or cannot be reached.
        """
        if known := await self._reached(lambda: self._known(message, task)):
            return remote_task(known)
        sent = Message(message_id=message, role=Role.ROLE_USER, parts=parts, task_id=task, context_id=context)
        configuration = SendMessageConfiguration(return_immediately=True)
        request = SendMessageRequest(message=sent, configuration=configuration)
        async with told_failures(self._address):
            async for response in self._client.send_message(request):
                if response.HasField("task"):
                    return remote_task(response.task)
                if response.HasField("message"):
                    said = "\n".join(part.text for part in response.message.parts if part.text)
                    return RemoteTask(id="", context=response.message.context_id, state="completed", said=said)
        raise ToolFailure(f"the agent at {self._address} gave no answer: try again")

    async def follow(self, task: str, tell: Callable[[str], None]) -> RemoteTask:
        """Wait until the task is over or asks something; `tell` is given what the agent says meanwhile.

        Raises:
            ToolFailure: the agent does not know the task, or cannot be reached any more.
        """
        await self._listen(task, tell)
        asked = GetTaskRequest(id=task)
        while True:
            found = remote_task(await self._reached(lambda: self._client.get_task(asked)))
            if found["state"] not in AT_WORK:
                return found
            await asyncio.sleep(POLLING)

    async def cancel(self, task: str) -> None:
        """End a task; one that has ended already is left as it is.

        Raises:
            ToolFailure: the agent does not know the task, or cannot be reached.
        """
        async with told_failures(self._address):
            try:
                await self._client.cancel_task(CancelTaskRequest(id=task))
            except TaskNotCancelableError:
                return

    async def _reached(self, ask: Callable[[], Awaitable[T]]) -> T:
        return await _reached(ask, self._address, self._patience)

    async def _listen(self, task: str, tell: Callable[[str], None]) -> None:
        events = self._streaming.subscribe(SubscribeToTaskRequest(id=task))
        try:
            async for event in events:
                status = event.task.status if event.HasField("task") else event.status_update.status
                for part in status.message.parts if event.HasField("status_update") else ():
                    tell(part.text)
                # The stream of a task that asks something stays open.
                if status.state and _state(status) not in AT_WORK:
                    return
        except (A2AError, NotImplementedError, httpx.HTTPError):
            # Streams are offered by some and break; the task itself says how it stands.
            return

    async def _known(self, message: str, task: str) -> Task | None:
        try:
            if task:
                candidates = [await self._client.get_task(GetTaskRequest(id=task))]
            else:
                candidates = list((await self._client.list_tasks(ListTasksRequest(page_size=RECENT))).tasks)
        except (AgentCardResolutionError, httpx.HTTPError):
            raise
        except (A2AError, NotImplementedError):
            # Agents of protocol 0.3 list no tasks.
            return None
        return next((each for each in candidates if any(message == said.message_id for said in each.history)), None)


@asynccontextmanager
async def open_remote(address: str, key: str = "", patience: float = 0.0) -> AsyncIterator[Remote]:
    """Reach the agent whose card is found at an address. Its card leads into no private network but the one named.

    Args:
        address: Where the card is.
        key: Sent as a bearer token; empty for none.
        patience: Seconds that an agent which cannot be reached has to come back: it may be starting again.

    Raises:
        ToolFailure: there is no agent, or none that can be spoken to.
    """
    guard = PublicAddresses([urlsplit(address).hostname or ""])
    async with await guarded_client(guard, user_agent="clew", seconds=SECONDS) as http:
        if key:
            http.headers["Authorization"] = f"Bearer {key}"
        card = await _reached(A2ACardResolver(http, address).get_agent_card, address, patience)
        bindings: list[str] = [TransportProtocol.JSONRPC, TransportProtocol.HTTP_JSON]
        try:
            # Without streams a message is answered once, as soon as its task is begun.
            client, streaming = (
                ClientFactory(
                    ClientConfig(streaming=streams, httpx_client=http, supported_protocol_bindings=bindings)
                ).create(card)
                for streams in (False, True)
            )
        except ValueError as error:
            raise ToolFailure(f"the agent at {address} speaks neither JSON-RPC nor REST") from error
        yield Remote(address, client, streaming, patience)


def remote_task(task: Task) -> RemoteTask:
    """How a task stands, in our words."""
    state = _state(task.status)
    words = [part.text for part in task.status.message.parts if part.text]
    results = [part.text for artifact in task.artifacts for part in artifact.parts if part.text]
    said = "\n".join(results if results and state == "completed" else words)
    return RemoteTask(id=task.id, context=task.context_id, state=state, said=said)


def _state(status: TaskStatus) -> str:
    return str(TaskState.Name(status.state)).removeprefix("TASK_STATE_").lower()


async def _reached(ask: Callable[[], Awaitable[T]], address: str, patience: float) -> T:
    loop = asyncio.get_running_loop()
    end = loop.time() + patience
    async with told_failures(address):
        while True:
            try:
                return await ask()
            except (httpx.TransportError, A2AClientError) as error:
                if loop.time() > end or not _is_unreachable(error):
                    raise
                await asyncio.sleep(POLLING)


def _is_unreachable(error: Exception) -> bool:
    if isinstance(error, AgentCardResolutionError) and error.status_code is not None:
        return False
    return isinstance(error, httpx.TransportError) or isinstance(error.__cause__, httpx.TransportError)
