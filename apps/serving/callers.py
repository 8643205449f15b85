"""Who calls: a key names its caller, and a server without keys has one caller, who is on this machine."""

from __future__ import annotations

import hmac
from collections.abc import Collection, Mapping

from pydantic import SecretStr
from starlette.authentication import AuthCredentials, SimpleUser
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOCAL = "local"
"""Name of the caller of a server without keys."""

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="clew"'}


class Authentication:
    """Lets in who shows a key, as `Authorization: Bearer KEY` or `X-API-Key: KEY`, and names the caller to the app.

    Args:
        app: What is served.
        keys: Key of each caller, by name; empty lets in everybody, as one caller.
        public: Paths that need no key.
    """

    def __init__(self, app: ASGIApp, keys: Mapping[str, SecretStr], public: Collection[str] = ()) -> None:
        self._app = app
        self._keys = {name: key.get_secret_value() for name, key in keys.items()}
        self._public = frozenset(public)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 401."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        caller = self._caller(Headers(scope=scope))
        if caller is None and scope["path"] not in self._public:
            refusal = JSONResponse({"error": "a key is needed"}, status_code=401, headers=CHALLENGE)
            await refusal(scope, receive, send)
            return
        if caller is not None:
            scope["user"] = SimpleUser(caller)
            scope["auth"] = AuthCredentials(["authenticated"])
        await self._app(scope, receive, send)

    def _caller(self, headers: Headers) -> str | None:
        if not self._keys:
            return LOCAL
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        shown = credentials.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        # Every key is compared, and each in the same time, so that the time of the answer tells nothing.
        matching = [name for name, key in self._keys.items() if hmac.compare_digest(key.encode(), shown.encode())]
        return matching[0] if matching else None
