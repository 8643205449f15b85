"""An httpx2 transport that dials only what a guard has checked: `tools/web/transport.py` for the MCP SDK."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache

import httpx2

from ..web.address import PORTS
from ..web.guard import Guard


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Asks the guard about every request, redirects and sign-in included, and dials the addresses that it gives.

    Certificates are checked for the name, not for the address. Connections are kept by name, so that one which was
    opened to an address for one name never serves another.

    Raises, as requests do:
        ToolFailure: the guard refuses the host.
        httpx2.TransportError: no address answers.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._transports: dict[str, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request to the first address that can be reached."""
        host = request.url.raw_host.decode("ascii")
        failure: httpx2.TransportError = httpx2.ConnectError(f"{host} has no address", request=request)
        for address in await self._guard(host, request.url.port or PORTS.get(request.url.scheme, 0)):
            try:
                return await self._transport(host).handle_async_request(_pinned(request, host, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure

    def _transport(self, host: str) -> httpx2.AsyncHTTPTransport:
        if host not in self._transports:
            self._transports[host] = httpx2.AsyncHTTPTransport(verify=certificates())
        return self._transports[host]

    async def aclose(self) -> None:
        """Close all connections."""
        for transport in self._transports.values():
            await transport.aclose()


def _pinned(request: httpx2.Request, host: str, address: str) -> httpx2.Request:
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


@cache
def certificates() -> ssl.SSLContext:
    """The certificates that are trusted. Blocking, and slow, the first time."""
    return httpx2.create_ssl_context()


async def guarded_client(
    guard: Guard, *, headers: dict[str, str], seconds: float, read_seconds: float, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    """A client behind the guard, without the proxies of the environment.

    Args:
        guard: What says which addresses may be dialled.
        headers: Headers of each request.
        seconds: Bound on each wait for the network.
        read_seconds: Bound on the wait for the next part of an answer.
        auth: Signs the requests.
    """
    await asyncio.to_thread(certificates)
    timeout = httpx2.Timeout(seconds, read=read_seconds)
    return httpx2.AsyncClient(transport=GuardedTransport(guard), headers=headers, timeout=timeout, auth=auth)
