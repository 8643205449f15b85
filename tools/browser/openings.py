"""Tabs that are about to open: the browser knows of them before Playwright does."""

from __future__ import annotations

from typing import Any

from playwright.async_api import BrowserContext, CDPSession
from playwright.async_api import Error as PlaywrightError


class Openings:
    """Compares the tabs that the browser has with those that Playwright shows.

    A page opens a tab in the middle of a click, but on a busy machine Playwright takes long to make it usable. Without
    this, the click would be over before its tab is there.
    """

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._targets: set[str] = set()
        self._owner = ""
        self._hopeless = 0

    @property
    def pending(self) -> bool:
        """Whether a tab is there that Playwright does not show yet."""
        return len(self._targets) - self._hopeless > len(self._context.pages)

    def give_up(self) -> None:
        """Wait no more for those that are pending."""
        self._hopeless = max(0, len(self._targets) - len(self._context.pages))

    async def watch(self) -> None:
        """Begin to look, where the browser lets us."""
        browser = self._context.browser
        if browser is None or not self._context.pages:
            return
        try:
            page = await self._context.new_cdp_session(self._context.pages[0])
            self._owner = (await page.send("Target.getTargetInfo"))["targetInfo"].get("browserContextId", "")
            await page.detach()
            session = await browser.new_browser_cdp_session()
            await self._listen(session)
        except PlaywrightError:
            # Some remote browsers keep their own protocol to themselves: tabs are then told of once they are there.
            self._targets.clear()

    async def _listen(self, session: CDPSession) -> None:
        session.on("Target.targetCreated", self._created)
        session.on("Target.targetDestroyed", self._destroyed)
        await session.send("Target.setDiscoverTargets", {"discover": True})

    def _created(self, event: dict[str, Any]) -> None:
        target = event["targetInfo"]
        if target["type"] == "page" and target.get("browserContextId") == self._owner:
            self._targets.add(target["targetId"])

    def _destroyed(self, event: dict[str, Any]) -> None:
        self._targets.discard(event["targetId"])
