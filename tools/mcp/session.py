"""The lasting session with one MCP server: one task owns the connection, and makes a new one when it is lost."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import random
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anyio
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext, IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types import ElicitRequestParams, ElicitResult, ToolListChangedNotification
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ...state.errors import ToolFailure
from ...state.mcp import McpServer
from .call import Call, only_call
from .connection import Lost, connect
from .listing import Listing, list_offer
from .questions import asked_params, elicitation_result
from .sign_in import SignIn

LOGGER = "clew.mcp"

FIRST_DELAY = 0.2
"""Seconds before the second try to connect; each further one waits twice as long."""

LONGEST_DELAY = 20.0
"""Seconds between two tries at most."""

SHORT_DELAY = 1.0
"""Seconds of delay up to which calls wait for the next try instead of failing at once."""

PAUSE = 3.0
"""Seconds that a step waits for a connection that is being made anew."""

SHUTDOWN = 10.0
"""Seconds that the SDK may take to stop a program, which it asks, then tells, then kills."""

STEADY = 5.0
"""Seconds that a connection must last for the next loss to count as the first."""


class ServerSession:
    """A session that outlives its connections. Calls come from any task of the loop that it was opened on."""

    def __init__(self, server: McpServer, sign_in: SignIn) -> None:
        self.server = server
        self.listing = Listing(server)
        """What the server offered when it was last asked."""
        self.problem = ""
        """Why the server cannot be used now; empty while it can."""
        self.hopeless = False
        """Whether no further try can mend it."""
        self.client: Client | None = None
        """The connection; None while there is none."""
        self.up = asyncio.Event()
        """Set while there is a connection."""
        _quiet()
        self._sign_in, self._calls = sign_in, dict[str, Call]()
        self._settled, self._closing, self._doubt = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._dirty = self._tried = False
        self._attempts = anyio.CancelScope()
        # An empty context: the owner outlives the run that happens to open it, and its tracing.
        loop = asyncio.get_running_loop()
        self._owner = loop.create_task(self._own(), name=f"mcp {server.name}", context=contextvars.Context())

    async def close(self) -> None:
        """End the session and the program that it started."""
        self._closing.set()
        for call in list(self._calls.values()):
            await call.cancel()
        if self.client is None:
            self._attempts.cancel()
        await asyncio.wait([self._owner], timeout=SHUTDOWN)
        self._owner.cancel()
        await asyncio.wait([self._owner], timeout=SHUTDOWN)

    async def settled(self, seconds: float | None = None) -> None:
        """Wait until the try to connect that is under way has succeeded or failed; after the first one not for long."""
        if seconds is None:
            seconds = PAUSE if self._tried else self.server.connect_timeout + STEADY
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._settled.wait()

    async def connected(self) -> Client:
        """The connection.

        Raises:
            ToolFailure: there is none.
        """
        await self.settled(self.server.connect_timeout + STEADY)
        if self.client is None:
            why = self.problem or "it does not answer"
            raise ToolFailure(f"the MCP server {self.server.name} cannot be used now: {why}. Go on without it.")
        return self.client

    async def refresh(self, *, always: bool = False) -> None:
        """List what the server offers, if it said that something changed; what fails is left to the next call."""
        if self.client is None or not (self._dirty or always):
            return
        self._dirty = False
        try:
            await self._list(self.client)
        except (MCPError, TimeoutError) as error:
            logging.getLogger(LOGGER).warning("cannot list the tools of %s: %s", self.server.name, error)
            self._question_connection()

    def parked(self, key: str) -> Call | None:
        """The call that was left under this key while it asks."""
        return self._calls.get(key)

    async def begin(
        self, key: str, tool: str, arguments: Mapping[str, Any], resumed: Mapping[str, Any] | None = None
    ) -> Call:
        """Begin a call of a tool; it is known by the key until it is dropped.

        Raises:
            ToolFailure: the server cannot be used now.
        """
        client = await self.connected()
        call = self._calls[key] = Call(self.server, client, tool, arguments, resumed)
        return call

    async def drop(self, key: str) -> None:
        """Forget a call, and stop it if it still runs."""
        call = self._calls.pop(key, None)
        if call is None:
            return
        await call.cancel()

    def lose(self) -> None:
        """Take note that a call ended because the connection is gone, or might be."""
        self._question_connection()

    def _question_connection(self) -> None:
        self._settled.clear()
        self._doubt.set()

    async def _own(self) -> None:
        # A cancellation of asyncio's own would reach into the SDK's shutdown, which hangs then.
        with self._attempts:
            await self._stay()

    async def _stay(self) -> None:
        """Connect, and after a loss connect again, until the session is closed."""
        loop, delay = asyncio.get_running_loop(), 0.0
        while not self._closing.is_set():
            began = loop.time()
            await self._try()
            self._tried = True
            if self._closing.is_set():
                return
            logging.getLogger(LOGGER).info("%s: %s", self.server.name, self.problem)
            delay = 0.0 if loop.time() - began >= STEADY else min(max(delay * 2, FIRST_DELAY), LONGEST_DELAY)
            if delay > SHORT_DELAY:
                self._settled.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(delay * random.uniform(0.5, 1.0)):
                    await self._closing.wait()
            self._settled.clear()

    async def _try(self) -> None:
        """Connect, and stay connected as long as it lasts; `problem` says why it ended."""
        self.hopeless = False
        try:
            await self._live()
        except Lost as error:
            self.problem = str(error)
            self.hopeless = isinstance(error.__cause__, FileNotFoundError | ToolFailure)
            if self.hopeless:
                self._settled.set()
        except asyncio.CancelledError:
            # The SDK cancels the code inside a connection that breaks; only a cancellation of ours goes on.
            if self._attempts.cancel_called or ((task := asyncio.current_task()) and task.cancelling()):
                raise
            self.problem = "the connection was lost"

    async def _live(self) -> None:
        """Connect, list, and stay until the connection is lost or the session is closed."""
        lost = asyncio.Event()
        opened = connect(
            self.server,
            sign_in=self._sign_in,
            lost=lost,
            on_message=self._on_message,
            on_elicitation=self._on_elicitation,
        )
        async with opened as client:
            await self._list(client)
            self.client, self.problem, self._tried = client, "", True
            self.up.set()
            self._settled.set()
            watching = asyncio.create_task(self._watch_list(client))
            try:
                while not await self._ended(lost):
                    await self._list(client)
                    self._settled.set()
            finally:
                self.client = None
                self.up.clear()
                self._settled.clear()
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)
        self.problem = "the connection was lost"

    async def _ended(self, lost: asyncio.Event) -> bool:
        """Wait until the session is closed or the connection lost (True), or there is a doubt about it (False)."""
        self._doubt.clear()
        waiting = [asyncio.create_task(event.wait()) for event in (lost, self._closing, self._doubt)]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        return lost.is_set() or self._closing.is_set()

    async def _list(self, client: Client) -> None:
        with anyio.fail_after(self.server.connect_timeout):
            new = await list_offer(self.server, client)
        if not new.equals(self.listing):
            self.listing = new

    async def _watch_list(self, client: Client) -> None:
        """Take note of changes on a stream of its own, as the protocol of 2026 has it; nothing is replayed there."""
        capability = client.server_capabilities.tools
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (capability and capability.list_changed):
            return
        while True:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._dirty = True
                    async for _ in changes:
                        self._dirty = True
            except ListenNotSupportedError:
                return
            except (MCPError, SubscriptionLost, TimeoutError) as error:
                logging.getLogger(LOGGER).info("%s tells no changes now: %s", self.server.name, error)
            await asyncio.sleep(STEADY)

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._dirty = True

    async def _on_elicitation(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        # Before 2026 a question came without the call that it belongs to.
        call = only_call(list(self._calls.values()))
        if call is None:
            return ElicitResult(action="cancel")
        asked = asked_params(params)
        return elicitation_result(asked, await call.ask(asked))


def _quiet() -> None:
    """Keep what the SDK logs from the terminal, where nobody has set logging up: its errors become ours."""
    log = logging.getLogger("mcp")
    if not log.handlers:
        log.addHandler(logging.NullHandler())
