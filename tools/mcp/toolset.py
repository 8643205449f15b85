"""The tools of the servers that one agent uses, as they stand while it runs."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from ...state.errors import ToolFailure, UsageError
from ...state.mcp import McpServer
from ..resources import Scope, resources, scope_of
from .names import server_parts, tool_names
from .pins import Changed, Pins
from .sign_in import SignIn

if TYPE_CHECKING:  # the SDK is slow to import, and only a run of an agent with servers needs it
    from .listing import Listing
    from .session import ServerSession


@dataclass(frozen=True, eq=False)
class Offer:
    """The tools of all servers at one time. The same object as long as nothing of it changes."""

    tools: Mapping[str, BaseTool]
    """The tools by name."""

    withheld: Sequence[Changed] = ()
    """Tools that are not among them, because their definition is not the one that a person accepted."""

    changed: Sequence[Changed] = ()
    """Those of them that no person has refused either."""

    listings: Sequence[Listing] = ()
    """What it was made from."""


@dataclass(frozen=True)
class Look:
    """How the servers of an agent stand."""

    offer: Offer
    """Their tools."""

    problems: Mapping[str, str]
    """Why each of the others cannot be used now, by its name."""

    withheld: Sequence[Changed]
    """Changed tools that are not offered."""

    all_gone: bool
    """Whether none of them can be used."""

    hopeless: bool
    """Whether no waiting would mend that."""


class McpToolset:
    """The servers of an agent. Nothing is opened before a run needs it, and then once for the whole thread."""

    def __init__(
        self, servers: Sequence[McpServer], home: Path, *, own: Sequence[str] = (), workspace: Path | None = None
    ) -> None:
        """Choose the servers.

        Args:
            servers: The servers.
            home: The folder of everything that clew keeps.
            own: Names of the agent's other tools, which no tool of a server gets.
            workspace: Folder of the run's files; None takes the run's own.
        """
        self.servers = list(servers)
        self._parts = dict(
            zip([server.name for server in servers], server_parts([s.name for s in servers]), strict=True)
        )
        self._own, self._workspace, self._lease = list(own), workspace, uuid4().hex
        self._pins, self._sign_in = Pins(home), SignIn(home)
        self._offers: dict[tuple[int, ...], Offer] = {}

    async def offer(self, config: RunnableConfig) -> Offer:
        """The tools as they were last listed; the first time the servers are connected to, all at once."""
        async with self._sessions(config) as sessions:
            await asyncio.gather(*(session.settled() for session in sessions))
            return await self._offer([session.listing for session in sessions])

    async def look(self, config: RunnableConfig, *, always: bool = False) -> Look:
        """The tools now: those of servers that said they changed, or of `always` all, are listed anew."""
        async with self._sessions(config) as sessions:
            await asyncio.gather(*(session.settled() for session in sessions))
            await asyncio.gather(*(session.refresh(always=always) for session in sessions))
            return await self._look(sessions)

    async def wait(self, config: RunnableConfig, seconds: float) -> Look:
        """How the servers stand when the first of them can be used again, or after so many seconds."""
        async with self._sessions(config) as sessions:
            waiting = [asyncio.create_task(session.up.wait()) for session in sessions]
            await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            for task in waiting:
                task.cancel()
            return await self._look(sessions)

    async def decide(self, changes: Sequence[Changed], *, accept: bool) -> None:
        """Keep what a person decided about changed definitions."""
        servers = {server.name: server for server in self.servers}
        for change in changes:
            await asyncio.to_thread(self._pins.settle, servers[change.server], change, accept=accept)
        self._offers.clear()

    async def _look(self, sessions: Sequence[ServerSession]) -> Look:
        problems = {each.server.name: each.problem or "it does not answer" for each in sessions if not each.client}
        offer = await self._offer([session.listing for session in sessions])
        all_gone = len(problems) == len(sessions)
        return Look(offer, problems, offer.withheld, all_gone, all_gone and all(each.hopeless for each in sessions))

    @asynccontextmanager
    async def session(self, server: McpServer, config: RunnableConfig) -> AsyncIterator[ServerSession]:
        """Lend the session of the thread with a server.

        Raises:
            UsageError: the SDK is not installed.
        """

        async def opened() -> ServerSession:
            session = await asyncio.to_thread(_session_class)
            return session(server, self._sign_in)

        # One for all agents of the thread, as with a sandbox: servers keep what they were told.
        scope = Scope(scope_of(config, self._lease).thread)
        kind = f"mcp {server.name} {hash(server.target)}"
        async with resources().use(scope, kind, opened, owner=self._lease, idle=math.inf) as session:
            yield session

    @asynccontextmanager
    async def _session_of(self, name: str, config: RunnableConfig) -> AsyncIterator[ServerSession]:
        server = next((each for each in self.servers if each.name == name), None)
        if server is None:
            names = ", ".join(each.name for each in self.servers)
            raise ToolFailure(f"there is no MCP server {name!r}; there are: {names}")
        async with self.session(server, config) as session:
            yield session

    @asynccontextmanager
    async def _sessions(self, config: RunnableConfig) -> AsyncIterator[list[ServerSession]]:
        async with AsyncExitStack() as stack:
            lent = [stack.enter_async_context(self.session(server, config)) for server in self.servers]
            yield [await each for each in lent]

    async def _offer(self, listings: Sequence[Listing]) -> Offer:
        key = tuple(map(id, listings))
        if key not in self._offers:
            offer = await asyncio.to_thread(self._make, listings)
            # An offer keeps its listings alive, so no other listing can have the id of one of them.
            self._offers = {**dict(list(self._offers.items())[-MOST_OFFERS:]), key: offer}
        return self._offers[key]

    def _make(self, listings: Sequence[Listing]) -> Offer:
        from .contents import content_tools
        from .tool import McpTool
        from .traits import annotated_traits

        tools: dict[str, BaseTool] = {}
        withheld: list[Changed] = []
        unasked: list[Changed] = []
        for listing in listings:
            server = listing.server
            changed = self._pins.changed(server, listing.tools.values())
            withheld += changed
            unasked += [change for change in changed if not self._pins.is_refused(server, change)]
            remote = [name for name in listing.tools if name not in {change.tool for change in changed}]
            names = tool_names(self._parts[server.name], remote, [*self._own, *tools])
            for name, tool in zip(names, map(listing.tools.__getitem__, remote), strict=True):
                traits = annotated_traits(tool.annotations, trusted=server.trust_annotations)
                tools[name] = McpTool(
                    name=name,
                    description=tool.description or tool.title or tool.name,
                    args_schema={"properties": {}, **tool.input_schema},
                    metadata=traits.metadata(),
                    server_name=server.name,
                    remote_name=tool.name,
                    workspace=self._workspace,
                    open_session=partial(self.session, server),
                )
        for extra in content_tools(self._session_of, listings):
            if extra.name not in [*self._own, *tools]:
                tools[extra.name] = extra
        return Offer(tools, withheld, unasked, listings)


MOST_OFFERS = 32
"""Offers that are kept for the threads that run at once."""


def _session_class() -> type[ServerSession]:
    try:
        from .session import ServerSession

        import_module("jsonschema")  # the SDK imports it at the first result, and it reads files
    except ModuleNotFoundError as error:
        raise UsageError(f"MCP servers need the package {error.name!r}: pip install 'clew[mcp]'") from error
    return ServerSession
