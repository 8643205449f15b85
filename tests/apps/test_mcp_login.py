"""Signing in to an MCP server: a real authorization server, and a browser that follows its pages."""

import asyncio
import stat
import sys

import httpx2
from mcp_maze import MAZE, Remote, Tools, free_port

from clew.apps.mcp_check import check_server
from clew.apps.mcp_login import signing_in
from clew.state.mcp import read_server
from clew.tools.mcp.sign_in import FOLDER
from clew.tools.resources import resources

GATE = MAZE.with_name("oauth_maze.py")


async def visit(url):
    """What a person's browser does with the page of the authorization server."""
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        answer = await browser.get(url)
    assert "Signed in" in answer.text


async def test_who_has_signed_in_once_is_let_in_and_nobody_else(tmp_path):
    port, home = free_port(), tmp_path / "home"
    gate = Remote([sys.executable, str(GATE), str(port)], port, {})
    await gate.start()
    fields = {"url": f"http://127.0.0.1:{port}/mcp", "oauth": {"redirect_port": free_port()}}
    server, browsers = read_server("gate", fields), []
    try:
        assert "clew mcp login gate" in (await check_server(server, home)).problem
        show = lambda url: browsers.append(asyncio.create_task(visit(url)))  # noqa: E731
        async with signing_in(server, home, show) as sign_in:
            report = await check_server(server, home, sign_in)
        await asyncio.gather(*browsers)
        assert [tool["name"] for tool in report.tools] == ["gate__enter"]
        [kept] = (home / FOLDER).iterdir()
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        tools = Tools(tmp_path, gate=fields)
        assert (await tools.call("gate__enter")).content == "you are in"
        await resources().close_all()
    finally:
        gate.kill()
