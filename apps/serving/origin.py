"""From where: a web page elsewhere must not reach a server through its visitor's browser (DNS rebinding)."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine."""


class SameOrigin:
    """Refuses requests with a Host, or with an Origin, that is not the server's own.

    Args:
        app: What is served.
        hosts: Names and addresses under which the server is reached, without port.
        origins: Further origins of web pages that may call.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str], origins: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 421 or 403."""
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        if host_name(f"//{headers.get('host', '')}") not in self._hosts:
            return JSONResponse({"error": "this server does not answer to that host"}, status_code=421)
        origin = headers.get("origin")
        if origin is None or origin.lower() in self._origins or host_name(origin) in self._hosts:
            return None
        return JSONResponse({"error": "pages of that origin may not call"}, status_code=403)


def host_name(url: str) -> str:
    """The host of a URL in lower case; empty where there is none."""
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
