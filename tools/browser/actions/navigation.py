"""Going to pages."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from ....state.errors import ToolFailure
from ..address import checked_url
from ..failures import explain, failures_of
from ..session import BrowserSession


async def go_to_url(session: BrowserSession, url: str) -> str:
    """Load a page in the active tab."""
    url = await checked_url(url, session.guard)
    page = await session.tabs.page()
    if session.tabs.crashed(page):
        page = await session.tabs.renew()
    return await load(session, page, url)


async def go_back(session: BrowserSession) -> str:
    """Go one page back in the tab's history."""
    return await _travel(session, "back")


async def go_forward(session: BrowserSession) -> str:
    """Go one page forward in the tab's history."""
    return await _travel(session, "forward")


async def refresh(session: BrowserSession) -> str:
    """Load the page again; a crashed tab comes back."""
    page = await session.tabs.page()
    if session.tabs.crashed(page):
        url = await checked_url(page.url, session.guard)
        return await load(session, await session.tabs.renew(), url)
    with failures_of("the page could not be loaded again"):
        await page.reload(wait_until="domcontentloaded", timeout=session.settings.navigation_seconds * 1000)
    return f"loaded {page.url} again"


async def wait(session: BrowserSession, seconds: float = 3) -> str:
    """Wait for some seconds."""
    await asyncio.sleep(seconds)
    return f"waited {seconds:g} seconds"


async def load(session: BrowserSession, page: Page, url: str) -> str:
    """Load `url`, which was checked, into a tab, and tell how it went.

    Raises:
        ToolFailure: nothing was loaded.
    """
    timeout = session.settings.navigation_seconds * 1000
    before = page.url
    try:
        response = await page.goto(url, wait_until="domcontentloaded", timeout=timeout)
    except PlaywrightTimeout as error:
        if page.url == before:
            raise ToolFailure(f"{url} did not answer in time: try again or use another address") from error
        return f"opened {page.url}, which still loads: take the state"
    except PlaywrightError as error:
        if "Download is starting" in error.message:
            return f"{url} is a file, not a page"
        raise ToolFailure(f"{url} was not opened: {_reason(session, error)}") from error
    if response is not None and response.headers.get("content-type", "").startswith("application/pdf"):
        return await _keep_pdf(session, response)
    return await _told(page, response)


async def _travel(session: BrowserSession, direction: str) -> str:
    page = await session.page()
    move = page.go_back if direction == "back" else page.go_forward
    before = page.url
    with failures_of(f"cannot go {direction}"):
        response = await move(wait_until="domcontentloaded", timeout=session.settings.navigation_seconds * 1000)
    if response is None and page.url == before:
        raise ToolFailure(f"there is no page to go {direction} to: use go_to_url")
    return await _told(page, response)


async def _told(page: Page, response: Response | None) -> str:
    with failures_of("the page cannot be read"):
        text = f"opened {page.url}: {await page.title() or '(no title)'}"
    if response is not None and response.status >= 400:
        text += f"\nThe server answered {response.status} {response.status_text}".rstrip()
    return text


async def _keep_pdf(session: BrowserSession, response: Response) -> str:
    with failures_of("the PDF could not be read"):
        content = await (await session.context.request.get(response.url)).body()
    name = urlsplit(response.url).path.rpartition("/")[2] or "document.pdf"
    path = await asyncio.to_thread(session.downloads.write, name, content)
    session.notices.add("download", f"downloaded {path} ({len(content)} bytes) into the workspace", path=path)
    return f"{response.url} is a PDF, which has no elements to act on"


def _reason(session: BrowserSession, error: PlaywrightError) -> str:
    reasons = session.connections.reasons if session.connections else {}
    if "ERR_SOCKS" in error.message and reasons:
        return next(reversed(reasons.values()))
    return explain(error)
