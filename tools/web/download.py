"""Getting what an address holds: redirects, limits of size, and failures in one sentence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from ...state.errors import ToolFailure

Permission = Callable[[str], Awaitable[None]]
"""Asked about each address before it is got; raises `ToolFailure` where it may not be."""


@dataclass(frozen=True)
class Download:
    """What an address holds."""

    url: str
    """Address after redirects."""

    status: int
    """Status code of HTTP."""

    content_type: str
    """Media type in small letters, without parameters; empty where the server names none."""

    charset: str | None
    """Character encoding that the server names."""

    content: bytes
    """Decompressed; at most as many bytes as were asked for."""

    truncated: bool
    """Whether there was more."""


async def download(
    client: httpx.AsyncClient, url: str, permission: Permission, *, max_redirects: int, max_bytes: int
) -> Download:
    """Get `url`, whatever its status, following redirects.

    Raises:
        ToolFailure: it cannot be reached, may not be, or redirects too often.
    """
    asked = url
    for _ in range(max_redirects + 1):
        await permission(url)
        try:
            async with client.stream("GET", url) as response:
                if response.next_request is None:
                    return await _received(response, max_bytes)
                url = str(response.next_request.url)
        except httpx.TimeoutException as error:
            raise ToolFailure(f"{url} does not answer: try again later, or another address") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ToolFailure(f"{url} cannot be read: {_reason(error)}") from error
    raise ToolFailure(f"{asked} redirects more than {max_redirects} times: use another address")


async def _received(response: httpx.Response, max_bytes: int) -> Download:
    content = bytearray()
    async for chunk in response.aiter_bytes():
        content += chunk
        if len(content) > max_bytes:
            break
    return Download(
        url=str(response.url),
        status=response.status_code,
        content_type=response.headers.get("Content-Type", "").partition(";")[0].strip().lower(),
        charset=response.charset_encoding,
        content=bytes(content[:max_bytes]),
        truncated=len(content) > max_bytes,
    )


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
