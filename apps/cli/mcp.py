"""`clew mcp`: the MCP servers of the settings."""

from __future__ import annotations

import asyncio
import json
import sys
from argparse import Namespace
from importlib.util import find_spec

from ...state.errors import UsageError
from ...state.mcp import McpServer
from ...state.settings import Settings, load_settings
from .exit_codes import ERROR, FINISHED
from .table import print_table

LOGIN_SECONDS = 600.0
"""Seconds that a person has to sign in."""


def run(arguments: Namespace) -> int:
    """List the servers, test one, or sign in to one."""
    settings = load_settings()
    if arguments.action == "list":
        return _list(settings, arguments.json)
    server = settings.mcp.server(arguments.server)
    if find_spec("mcp") is None:
        raise UsageError("MCP servers need the package 'mcp': pip install 'clew[mcp]'")
    if arguments.action == "login":
        return asyncio.run(_login(server, settings))
    return asyncio.run(_test(server, settings, arguments.json))


def _list(settings: Settings, as_json: bool) -> int:
    servers = settings.mcp.all()
    if as_json:
        for server in servers.values():
            row = {"server": server.name, "transport": server.transport, "target": server.target}
            print(json.dumps({**row, "disabled": server.disabled}))
    elif servers:
        rows = [(each.name, each.transport, each.target, "no" if each.disabled else "yes") for each in servers.values()]
        print_table(("server", "transport", "target", "used"), rows)
    else:
        print("no MCP servers: add one to clew.toml as [mcp.servers.NAME]", file=sys.stderr)
    return FINISHED


async def _test(server: McpServer, settings: Settings, as_json: bool) -> int:
    from ..mcp_check import check_server

    report = await check_server(server, settings.home)
    if as_json:
        print(json.dumps(report.as_json()))
    elif report.problem:
        print(f"clew: the MCP server {server.name} cannot be used: {report.problem}", file=sys.stderr)
    else:
        print(f"{report.program or server.name}, protocol {report.protocol}")
        print_table(
            ("tool", "risk", "again", "what it does"),
            [(t["name"], t["risk"], "yes" if t["idempotent"] else "no", t["description"][:80]) for t in report.tools],
        )
        for what, names in (("resources", report.resources), ("prompts", report.prompts)):
            if names:
                print(f"{what}: {', '.join(names)}")
    return ERROR if report.problem else FINISHED


async def _login(server: McpServer, settings: Settings) -> int:
    from ..mcp_check import check_server
    from ..mcp_login import signing_in

    if server.oauth is None:
        raise UsageError(
            f"{server.name} has no [mcp.servers.{server.name}.oauth] table: give it one, even an empty one"
        )
    patient = server.model_copy(update={"connect_timeout": LOGIN_SECONDS})
    async with signing_in(server, settings.home, lambda url: print(f"sign in at: {url}", flush=True)) as sign_in:
        report = await check_server(patient, settings.home, sign_in)
    if report.problem:
        print(f"clew: cannot sign in to {server.name}: {report.problem}", file=sys.stderr)
        return ERROR
    print(f"signed in to {server.name}: {len(report.tools)} tools")
    return FINISHED
