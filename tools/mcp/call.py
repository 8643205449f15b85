"""One call of a tool, which goes on while a person is asked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp import Client, MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    CallToolResult,
    ElicitRequest,
    InputRequiredResult,
    InputResponses,
)

from ...state.errors import ToolFailure
from ...state.mcp import McpServer
from .questions import asked_params, elicitation_result

MOST_ROUNDS = 20
"""Times that a server may come back with questions during one call."""

Progress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Is told how far the call is: done, of how much, and a message."""


class ConnectionGone(Exception):
    """The connection ended during a call, so nobody knows whether it took effect."""


@dataclass(eq=False)
class Asked:
    """A question of the server, and its answer."""

    elicitation: Mapping[str, Any]
    """Its parameters, plain JSON."""

    state: Mapping[str, Any] | None
    """With which another process can go on; None where only the running call can."""

    answer: asyncio.Future[Any] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    """Is set to what the person answers."""


class Call:
    """A call in a task of its own. Whoever began it may leave it while it asks, and come back with the answer."""

    def __init__(
        self,
        server: McpServer,
        client: Client,
        tool: str,
        arguments: Mapping[str, Any],
        resumed: Mapping[str, Any] | None = None,
    ) -> None:
        """Begin.

        Args:
            server: Whose tool it is.
            client: The connection.
            tool: Name of the tool, as the server calls it.
            arguments: Its arguments.
            resumed: State of the question with which an earlier process left the call.
        """
        self._server, self._client, self._tool, self._arguments = server, client, tool, dict(arguments)
        self.asked: list[Asked] = []
        """The questions so far; those that an earlier process saw answered are not among them."""
        self.on_progress: Progress | None = None
        """Is told how far the call is, as long as somebody waits for it."""
        self._before = resumed["before"] if resumed else 0
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._run(resumed), name=f"mcp call {server.name} {tool}")
        self._task.add_done_callback(lambda _: self._news.set())

    @property
    def is_over(self) -> bool:
        """Whether it has a result, or failed."""
        return self._task.done()

    @property
    def is_asking(self) -> bool:
        """Whether a question waits for its answer."""
        return any(not each.answer.done() for each in self.asked)

    async def open_question(self) -> Asked | None:
        """The question that waits for an answer; None once the call is over."""
        while not self._task.done():
            self._news.clear()
            for each in self.asked:
                if not each.answer.done():
                    return each
            await self._news.wait()
        return None

    def result(self) -> CallToolResult:
        """The result of a call that is over.

        Raises:
            ToolFailure: the server did not answer in time, refused the call, or asked what clew cannot answer.
            ConnectionGone: the connection ended.
        """
        if self._task.cancelled():
            raise ConnectionGone
        return self._task.result()

    async def cancel(self) -> None:
        """Stop the call; the server is told."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.exception()

    async def ask(self, elicitation: Mapping[str, Any], state: Mapping[str, Any] | None = None) -> Any:
        """Have a person asked, and wait for the answer. The time that it takes does not count."""
        asked = Asked(elicitation, state)
        self.asked.append(asked)
        self._clock.reschedule(None)
        self._news.set()
        try:
            return await asked.answer
        finally:
            self._wind_up()

    async def _run(self, resumed: Mapping[str, Any] | None) -> CallToolResult:
        began = time.monotonic()
        try:
            async with asyncio.timeout(None) as self._clock:
                self._wind_up()
                return await self._rounds(resumed)
        except TimeoutError as error:
            raise ToolFailure(self._too_slow()) from error
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or self._is_gone(error, time.monotonic() - began):
                raise ConnectionGone(error.message) from error
            raise ToolFailure(f"{self._server.name} refused `{self._tool}`: {error.message}") from error

    def _is_gone(self, error: MCPError, seconds: float) -> bool:
        # A server that was restarted answers so about a session that it does not know.
        restarted = error.code == REQUEST_TIMEOUT and seconds < self._server.timeout
        return self._server.transport != "stdio" and ("session" in error.message.lower() or restarted)

    def _wind_up(self) -> None:
        if not self._clock.expired():
            self._clock.reschedule(asyncio.get_running_loop().time() + self._server.timeout)

    async def _rounds(self, resumed: Mapping[str, Any] | None) -> CallToolResult:
        responses: InputResponses | None = None
        state: str | None = None
        if resumed:
            responses, state = await self._answers(resumed), resumed["request_state"]
        for _ in range(MOST_ROUNDS):
            result = await self._client.session.call_tool(
                self._tool,
                self._arguments,
                progress_callback=self._tell,
                input_responses=responses,
                request_state=state,
                allow_input_required=True,
            )
            if isinstance(result, CallToolResult):
                return result
            if not isinstance(result, InputRequiredResult):
                break
            saved = {"request_state": result.request_state, "requests": self._requests(result)}
            responses, state = await self._answers(saved), result.request_state
        raise ToolFailure(f"`{self._tool}` of {self._server.name} came to no end; try it otherwise")

    def _requests(self, result: InputRequiredResult) -> dict[str, Any]:
        requests = (result.input_requests or {}).items()
        for _, request in requests:
            if not isinstance(request, ElicitRequest):
                raise ToolFailure(f"`{self._tool}` of {self._server.name} needs {request.method}, which clew has not")
        return {key: asked_params(request.params) for key, request in requests if isinstance(request, ElicitRequest)}

    async def _answers(self, saved: Mapping[str, Any]) -> InputResponses:
        state = {**saved, "before": self._before + len(self.asked)}
        return {
            key: elicitation_result(asked, await self.ask(asked, state)) for key, asked in saved["requests"].items()
        }

    async def _tell(self, progress: float, total: float | None, message: str | None) -> None:
        if self.on_progress:
            await self.on_progress(progress, total, message)

    def _too_slow(self) -> str:
        return f"`{self._tool}` of {self._server.name} did not answer within {self._server.timeout:g} seconds."


def only_call(calls: Sequence[Call]) -> Call | None:
    """The call that a question of the server belongs to; None where several run and nothing says which."""
    running = [call for call in calls if not call.is_over]
    return running[0] if len(running) == 1 else None
