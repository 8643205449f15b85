"""The addresses that a model may ask the browser for."""

from __future__ import annotations

from ..web.address import checked_address
from ..web.guard import Guard

BLANK = "about:blank"


async def checked_url(url: str, guard: Guard) -> str:
    """`url` with its scheme (`https://` where it has none), let through by the guard.

    Raises:
        ToolFailure: it is no web address, or the guard refuses its host.
    """
    return BLANK if url.strip() == BLANK else (await checked_address(url, guard)).url
