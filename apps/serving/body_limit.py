"""How much: a request is refused once it is longer than the limit, however it says its length."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """Refuses requests of more than `limit` bytes with 413."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or answer 413."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _announced(Headers(scope=scope)) > self._limit:
            await self._refusal()(scope, receive, send)
            return
        body: list[bytes] = []
        size, more = 0, True
        # The whole body is read first: a handler that has begun to answer can refuse nothing.
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body.append(message.get("body", b""))
            size, more = size + len(body[-1]), message.get("more_body", False)
            if size > self._limit:
                await self._refusal()(scope, receive, send)
                return
        await self._app(scope, _replay(b"".join(body), receive), send)

    def _refusal(self) -> JSONResponse:
        return JSONResponse({"error": f"a request may have {self._limit} bytes"}, status_code=413)


def _announced(headers: Headers) -> int:
    # The server itself refuses a length that is no number.
    length = headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
