"""What a browser holds, as plain JSON, so that another one can go on."""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError
from typing_extensions import TypedDict

from ...state.errors import ToolFailure
from ..web.guard import Guard
from .address import BLANK, checked_url
from .tabs import Tabs

READ_SESSION = "() => ({ ...sessionStorage })"
WRITE_SESSION = (
    "(entries) => { for (const [key, value] of Object.entries(entries)) sessionStorage.setItem(key, value); }"
)
SCROLL = "([x, y]) => scrollTo({ left: x, top: y, behavior: 'instant' })"


class SavedTab(TypedDict):
    """One tab."""

    url: str
    active: bool
    scroll: list[int]
    """CSS pixels from the left and the top."""

    session_storage: dict[str, str]


class SavedBrowser(TypedDict):
    """Tabs, cookies and storage of a browser."""

    tabs: list[SavedTab]
    storage: dict[str, Any]
    """Playwright's storage state: cookies, local storage, IndexedDB."""


async def save(context: BrowserContext, tabs: Tabs) -> SavedBrowser:
    """Everything that `restore` and a new context need.

    Raises:
        playwright.async_api.Error: the browser is gone.
    """
    storage: Any = await context.storage_state(indexed_db=True)
    return SavedBrowser(tabs=[await _save_tab(page, active) for page, active in tabs.pages()], storage=storage)


async def restore(tabs: Tabs, saved: SavedBrowser, guard: Guard, seconds: float) -> None:
    """Open the saved tabs in a context that has the saved storage; one that does not load stays where it got to."""
    pages = [await tabs.page(), *[await tabs.open() for _ in saved["tabs"][1:]]]
    await asyncio.gather(
        *(_restore_tab(page, tab, guard, seconds) for page, tab in zip(pages, saved["tabs"], strict=False))
    )
    active = next((place for place, tab in enumerate(saved["tabs"]) if tab["active"]), 0)
    await tabs.activate(pages[active])


async def _save_tab(page: Page, active: bool) -> SavedTab:
    tab = SavedTab(url=page.url, active=active, scroll=[0, 0], session_storage={})
    try:
        tab["scroll"] = await page.evaluate("() => [Math.round(scrollX), Math.round(scrollY)]")
        tab["session_storage"] = await page.evaluate(READ_SESSION)
    except PlaywrightError:
        # Blank, crashed and sandboxed pages have no storage.
        pass
    return tab


async def _restore_tab(page: Page, tab: SavedTab, guard: Guard, seconds: float) -> None:
    if tab["url"] == BLANK:
        return
    try:
        url = await checked_url(tab["url"], guard)
        await page.goto(url, wait_until="domcontentloaded", timeout=seconds * 1000)
        if tab["session_storage"]:
            await page.evaluate(WRITE_SESSION, tab["session_storage"])
            await page.reload(wait_until="domcontentloaded", timeout=seconds * 1000)
        await page.evaluate(SCROLL, tab["scroll"])
    except (PlaywrightError, ToolFailure):
        # The site is down or has moved: the state shows the model what is there.
        return
