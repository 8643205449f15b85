"""Signing in to an MCP server in the person's browser."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import AuthorizationCodeResult

from ..state.errors import UsageError
from ..state.mcp import McpServer
from ..tools.mcp.sign_in import SignIn, redirect_address

DONE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nSigned in. You may close this page.\n"
LOST = b"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n"


@asynccontextmanager
async def signing_in(server: McpServer, home: Path, show: Callable[[str], None]) -> AsyncIterator[SignIn]:
    """A sign-in whose page a person is shown, and that waits on this machine until the browser comes back.

    Raises:
        UsageError: the port that the browser comes back to is taken.
    """
    came_back: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        target = (await reader.readline()).split(b" ")[1:2]
        result = _code(target[0].decode("ascii", "replace")) if target else None
        if result and not came_back.done():
            came_back.set_result(result)
        writer.write(DONE if result else LOST)
        await writer.drain()
        writer.close()

    async def open_page(url: str) -> None:
        show(url)

    async def come_back() -> AuthorizationCodeResult:
        return await came_back

    address = urlsplit(redirect_address(server))
    try:
        listening = await asyncio.start_server(answer, address.hostname, address.port)
    except OSError as error:
        raise UsageError(f"port {address.port} is taken: set redirect_port of {server.name} to another") from error
    async with listening:
        yield SignIn(home, open_page, come_back)


def _code(target: str) -> AuthorizationCodeResult | None:
    given = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
    if "code" not in given:
        return None
    return AuthorizationCodeResult(code=given["code"], state=given.get("state"), iss=given.get("iss"))
