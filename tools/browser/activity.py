"""Whether a page still loads: its requests that are under way."""

from __future__ import annotations

import asyncio

from playwright.async_api import BrowserContext, Page, Request
from playwright.async_api import Error as PlaywrightError

from .openings import Openings

LOADING = frozenset({"document", "stylesheet", "script", "xhr", "fetch"})
"""Kinds of requests after which a page changes. Pictures, media, sockets and event streams are none."""

QUIET_SECONDS = 0.06
"""A page is quiet when no request began or ended for so long."""

LONG_POLL_SECONDS = 4.0
"""A request that is under way for longer waits for events, not for content."""

OPENING_SECONDS = 5.0
"""A tab that the browser has opened is waited for this long."""

POLL_SECONDS = 0.02


class Activity:
    """Requests of a context's pages."""

    def __init__(self, context: BrowserContext) -> None:
        self._loop = asyncio.get_running_loop()
        self._started: dict[Request, float] = {}
        self._last = self._loop.time()
        context.on("request", self._begin)
        context.on("requestfinished", self._end)
        context.on("requestfailed", self._end)

    async def quiet(self, page: Page, seconds: float, openings: Openings) -> bool:
        """Wait until the page loads and opens nothing more, for at most `seconds`; whether it came to that."""
        start = self._last = self._loop.time()
        while self._loop.time() - start < (OPENING_SECONDS if openings.pending else seconds):
            await asyncio.sleep(POLL_SECONDS)
            if page.is_closed():
                return True
            if self._loop.time() - self._last >= QUIET_SECONDS and not self._loading(page) and not openings.pending:
                return True
        openings.give_up()
        return False

    def _loading(self, page: Page) -> bool:
        begun_after = self._loop.time() - LONG_POLL_SECONDS
        return any(begun > begun_after and _page(request) is page for request, begun in self._started.items())

    def _begin(self, request: Request) -> None:
        if request.resource_type in LOADING:
            self._started[request] = self._last = self._loop.time()

    def _end(self, request: Request) -> None:
        if self._started.pop(request, None) is not None:
            self._last = self._loop.time()


def _page(request: Request) -> Page | None:
    try:
        return request.frame.page
    except PlaywrightError:
        # A service worker's request, or one whose page is not there yet: it has no frame.
        return None
