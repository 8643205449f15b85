"""`clew serve mcp`: graphs and tools of ours, for MCP clients."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...graphs.specs import AGENTS, agent_spec, flow_agents
from ...models.load import load_model
from ...state.errors import UsageError
from ...state.settings import Settings, load_settings
from ...tools.catalog import build_tools
from ...tools.resources import resources
from ..log import logging_to
from ..readiness import check_agents, check_workspace
from ..session import PLAN, Session, open_session
from .begin import settled_model

if TYPE_CHECKING:  # the SDK is slow to import
    from ..mcp import McpServer
    from ..mcp_runs import ServedGraph

PATH = "/mcp"
"""Path of the endpoint."""


def serve_mcp(arguments: Namespace) -> int:
    """Serve until the client goes or the process is told to stop."""
    settings = load_settings(db=arguments.db)
    check_workspace(settings.workspace)
    if find_spec("mcp") is None:
        raise UsageError("MCP needs the package 'mcp': pip install 'clew[mcp]'")
    with logging_to(settings):
        asyncio.run(_serve(arguments, settings))
    return 0


async def _serve(arguments: Namespace, settings: Settings) -> None:
    from ..mcp import McpServer, served_key
    from ..mcp_runs import Runs

    graphs, model = _graphs(arguments.graphs, settings), settled_model(arguments.model)
    if graphs:  # clients cannot mend a model that is not to be had
        await asyncio.to_thread(load_model, model, settings=settings)
        agents = [spec for graph in graphs for spec in graph.agents]
        await asyncio.to_thread(check_agents, agents, settings)
    tools = build_tools(arguments.tools, settings=settings)
    key = await asyncio.to_thread(served_key, settings.home)
    async with open_session(settings) as session:
        server = McpServer(Runs(session, model), graphs, tools, key)
        try:
            await (_over_http(server, arguments, session) if arguments.http else _over_stdio(server))
        finally:
            await resources().close_all()


async def _over_stdio(server: McpServer) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await server.server.run(incoming, outgoing, server.server.create_initialization_options())


async def _over_http(server: McpServer, arguments: Namespace, session: Session) -> None:
    from mcp.server.transport_security import TransportSecuritySettings

    from ..serving.listening import listen, serve
    from ..serving.protected import protected

    limits = session.settings.serve
    with listen(arguments.host, arguments.port) as listening:
        app = server.server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=limits.max_body_bytes,
            # What is around the app checks Host and Origin on every address, not on loopback ones alone.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        host, port = listening.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
        said = partial(print, f"serving over MCP at {url} (Ctrl-C ends it)", file=sys.stderr, flush=True)
        await serve(protected(app, limits, arguments.host), listening, said)


def _graphs(names: list[str] | None, settings: Settings) -> list[ServedGraph]:
    from ..mcp_runs import ServedGraph

    if names is None:
        names = [*(name for name, spec in AGENTS.items() if settings.mcp.all() or not spec.requires_mcp), PLAN]
    served = []
    for name in names:
        if name == PLAN:
            about = "Plans a task, and has agents carry out the steps."
            served.append(ServedGraph(PLAN, about, flow_agents(settings), is_plan=True))
        else:
            spec = agent_spec(name)
            served.append(ServedGraph(spec.name, spec.description, [spec]))
    return served
