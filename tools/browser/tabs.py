"""The tabs of a browser context, under ids that never change."""

from __future__ import annotations

from playwright.async_api import BrowserContext, Page
from typing_extensions import TypedDict

from ...state.errors import ToolFailure
from .notices import Notices


class Tab(TypedDict):
    """One tab, as the state tells of it."""

    id: int
    """Id for `switch_tab`."""

    url: str
    """Its address."""

    active: bool
    """Whether actions go to it."""

    crashed: bool
    """Whether its page died."""


class Tabs:
    """All open tabs and which one is active. A tab that a page opens becomes the active one."""

    def __init__(self, context: BrowserContext, notices: Notices) -> None:
        self._context = context
        self._notices = notices
        self._pages: dict[int, Page] = {}
        self._crashed: set[Page] = set()
        self._opening = False
        self._last = -1
        self._active: Page | None = None
        for page in context.pages:
            self._add(page)
        context.on("page", self._opened)

    async def page(self) -> Page:
        """The active tab's page; a blank one where none is open."""
        if self._active is None or self._active.is_closed():
            open_pages = list(self._pages.values())
            self._active = open_pages[-1] if open_pages else await self.open()
        return self._active

    async def open(self) -> Page:
        """A blank tab, which becomes the active one."""
        self._opening = True
        try:
            page = await self._context.new_page()
        finally:
            self._opening = False
        self._active = page
        return page

    async def switch(self, tab: int) -> Page:
        """Make a tab the active one.

        Raises:
            ToolFailure: there is no such tab.
        """
        if tab not in self._pages:
            known = ", ".join(map(str, self._pages))
            raise ToolFailure(f"there is no tab {tab}: the open tabs are {known}")
        await self.activate(self._pages[tab])
        return self._pages[tab]

    async def activate(self, page: Page) -> None:
        """Make the tab of an open page the active one."""
        self._active = page
        await page.bring_to_front()

    async def close(self) -> Page:
        """Close the active tab; the one that opened it, or the last, becomes active."""
        page = await self.page()
        opener = await page.opener()
        await page.close()
        self._active = opener if opener is not None and not opener.is_closed() else None
        return await self.page()

    async def renew(self) -> Page:
        """Put a blank page in the place of a crashed one, under the same id."""
        dead = await self.page()
        tab = self._id(dead)
        page = await self.open()
        del self._pages[self._id(page)]
        self._pages[tab] = page
        self._last -= 1
        await dead.close()
        return page

    def crashed(self, page: Page) -> bool:
        """Whether the page died."""
        return page in self._crashed

    def pages(self) -> list[tuple[Page, bool]]:
        """The page of every open tab, and whether it is the active one."""
        return [(page, page is self._active) for page in self._pages.values()]

    def all(self) -> list[Tab]:
        """Every open tab."""
        return [
            Tab(id=tab, url=page.url, active=page is self._active, crashed=page in self._crashed)
            for tab, page in self._pages.items()
        ]

    def _opened(self, page: Page) -> None:
        if page in self._pages.values():
            return
        self._add(page)
        if not self._opening:
            self._notices.add("tab", f"a tab opened: tab {self._last} is active now")

    def _add(self, page: Page) -> None:
        self._last += 1
        self._pages[self._last] = page
        self._active = page
        page.on("close", self._closed)
        page.on("crash", self._died)

    def _closed(self, page: Page) -> None:
        self._pages = {tab: other for tab, other in self._pages.items() if other is not page}
        self._crashed.discard(page)

    def _died(self, page: Page) -> None:
        self._crashed.add(page)
        self._notices.add("crash", f"tab {self._id(page)} crashed: use refresh to load it again")

    def _id(self, page: Page) -> int:
        return next(tab for tab, other in self._pages.items() if other is page)
