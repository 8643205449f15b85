"""`clew serve`: an agent, for others to use."""

from __future__ import annotations

import asyncio
import socket
import sys
from argparse import Namespace
from functools import partial
from importlib import import_module

from ...graphs.specs import agent_spec
from ...models.load import load_model
from ...state.errors import UsageError
from ...state.settings import Settings, load_settings
from ...tools.resources import resources
from ..log import logging_to
from ..readiness import check_agents, check_workspace
from ..session import open_session
from .begin import settled_model


def run(arguments: Namespace) -> int:
    """Serve until the process is told to stop."""
    if arguments.protocol == "mcp":
        from .serve_mcp import serve_mcp

        return serve_mcp(arguments)
    settings = load_settings(db=arguments.db)
    check_workspace(settings.workspace)
    try:
        import_module("a2a.server.routes.jsonrpc_routes")
        import_module("sqlalchemy.ext.asyncio")
    except ModuleNotFoundError as error:
        raise UsageError(f"A2A needs the package {error.name!r}: pip install 'clew[a2a]'") from error
    with logging_to(settings):
        asyncio.run(_serve_a2a(arguments, settings))
    return 0


async def _serve_a2a(arguments: Namespace, settings: Settings) -> None:
    from ..a2a.card import agent_card
    from ..a2a.server import PUBLIC, open_app
    from ..a2a.threads import AgentThreads
    from ..serving.listening import listen, serve
    from ..serving.protected import protected

    spec = agent_spec(arguments.agent)
    with listen(arguments.host, arguments.port) as listening:
        url = arguments.url or _url(listening)
        card = agent_card(spec, url, keys=bool(settings.serve.keys))
        async with open_session(settings) as session:
            model = settled_model(arguments.model) or spec.model
            threads = AgentThreads(session, spec, settled_model(arguments.model))
            async with open_app(threads, card, settings) as app:
                guarded = protected(app, settings.serve, arguments.host, PUBLIC)
                said = partial(
                    print, f"serving {spec.name} over A2A at {url} (Ctrl-C ends it)", file=sys.stderr, flush=True
                )
                if not spec.remote:  # callers cannot mend a model that is not to be had
                    await asyncio.to_thread(load_model, model, settings=settings)
                    await asyncio.to_thread(check_agents, [spec], settings)
                try:
                    await serve(guarded, listening, said)
                finally:
                    await resources().close_all()


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"
