"""Tabs."""

from __future__ import annotations

from ..address import checked_url
from ..failures import failures_of
from ..session import BrowserSession
from .navigation import load


async def switch_tab(session: BrowserSession, tab_id: int) -> str:
    """Make a tab the active one."""
    with failures_of(f"tab {tab_id} cannot be used"):
        page = await session.tabs.switch(tab_id)
    return f"tab {tab_id} is active: {page.url}"


async def open_tab(session: BrowserSession, url: str) -> str:
    """Load a page in a tab of its own."""
    url = await checked_url(url, session.guard)
    with failures_of("no tab could be opened"):
        page = await session.tabs.open()
    return await load(session, page, url)


async def close_tab(session: BrowserSession) -> str:
    """Close the active tab."""
    with failures_of("the tab could not be closed"):
        page = await session.tabs.close()
    return f"closed the tab; the active one shows {page.url}"
