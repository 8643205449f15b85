"""An httpx transport that dials only what a guard has checked."""

from __future__ import annotations

import asyncio
import ssl
from functools import cache

import httpx

from .address import PORTS
from .guard import Guard


class GuardedTransport(httpx.AsyncBaseTransport):
    """Asks the guard about every request, redirects included, and dials the addresses that it gives.

    Certificates are checked for the name, not for the address. No connection is used again: one that was opened to an
    address for one name must not serve another name.

    Raises, as requests do:
        ToolFailure: the guard refuses the host.
        httpx.TransportError: no address answers.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._transport = httpx.AsyncHTTPTransport(
            verify=certificates(), limits=httpx.Limits(max_keepalive_connections=0)
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request to the first address that can be reached."""
        host = request.url.raw_host.decode("ascii")
        failure: httpx.TransportError = httpx.ConnectError(f"{host} has no address", request=request)
        for address in await self._guard(host, request.url.port or PORTS.get(request.url.scheme, 0)):
            try:
                return await self._transport.handle_async_request(_pinned(request, host, address))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


def _pinned(request: httpx.Request, host: str, address: str) -> httpx.Request:
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


@cache
def certificates() -> ssl.SSLContext:
    """The certificates that are trusted. Blocking, and slow, the first time."""
    return httpx.create_ssl_context()


async def guarded_client(guard: Guard, *, user_agent: str, seconds: float) -> httpx.AsyncClient:
    """A client behind the guard. `seconds` bound each wait for the network. Proxies of the environment are not used."""

    def build() -> httpx.AsyncClient:
        headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip, deflate"}
        return httpx.AsyncClient(transport=GuardedTransport(guard), headers=headers, timeout=seconds)

    # Reading the certificates blocks.
    return await asyncio.to_thread(build)
