"""The guard in front of a browser whose connections are not ours to filter: a remote one, or one behind a proxy."""

from __future__ import annotations

from playwright.async_api import BrowserContext, Route
from playwright.async_api import Error as PlaywrightError

from ...state.errors import ToolFailure
from ..web.address import PORTS, split
from ..web.guard import Guard


async def guard_requests(context: BrowserContext, guard: Guard) -> None:
    """Refuse requests to hosts that the guard refuses. Redirects between servers are not seen here."""

    async def decide(route: Route) -> None:
        try:
            scheme, host, port = split(route.request.url)
            if host:
                await guard(host, port or PORTS.get(scheme, 443))
        except ToolFailure:
            await _finish(route, allowed=False)
        else:
            await _finish(route, allowed=True)

    await context.route("**/*", decide)


async def _finish(route: Route, *, allowed: bool) -> None:
    try:
        await (route.continue_() if allowed else route.abort("blockedbyclient"))
    except PlaywrightError:
        # The page went away with its request.
        return
