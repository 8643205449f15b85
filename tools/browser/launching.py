"""Starting a browser, or reaching one, so that it ends with us.

A browser that we start is a child of Playwright's driver and obeys a pipe: when this process ends, however it ends,
the driver closes the browser, and when the driver ends too, the browser sees the pipe close and exits.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from playwright.async_api import Browser, BrowserContext, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError

from ...state.errors import UsageError
from .finding import BrowserSource, find_browser
from .scripts.library import source
from .settings import BrowserSettings

QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-pings",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
"""Arguments that keep the browser from calling home, and its traffic in the proxy."""


@asynccontextmanager
async def open_context(
    settings: BrowserSettings, *, proxy: str | None = None, storage: dict[str, Any] | None = None
) -> AsyncIterator[BrowserContext]:
    """A browser context, with its browser started or reached at entry, and ended or left alone at exit.

    Args:
        settings: How to find, start and size the browser.
        proxy: URL of the connection filter; a proxy of the settings comes before it.
        storage: Playwright storage state to begin with.

    Raises:
        UsageError: there is no browser, or it does not start or answer.
    """
    found = find_browser(settings)
    async with async_playwright() as playwright:
        if settings.profile is not None and not found.remote:
            context = await _launch_profile(playwright, found, settings, proxy)
            owned: Browser | BrowserContext = context
        else:
            browser = await _browser(playwright, found, settings)
            context = await _context(browser, found, settings, proxy)
            owned = context if found.remote else browser
        try:
            if storage and not settings.profile and not (found.remote and settings.join):
                # A profile that outlives its browser keeps its own.
                await context.set_storage_state(storage)  # type: ignore[arg-type]
            yield context
        finally:
            await _close(owned, joined=found.remote and settings.join)


async def new_context(browser: Browser, settings: BrowserSettings, *, proxy: str | None = None) -> BrowserContext:
    """A fresh, private context of a running browser, its pages tracked."""
    context = await browser.new_context(**_context_options(settings, proxy))
    await context.add_init_script(source("track"))
    return context


async def _browser(playwright: Playwright, found: BrowserSource, settings: BrowserSettings) -> Browser:
    chromium = playwright.chromium
    try:
        if found.kind == "cdp":
            return await chromium.connect_over_cdp(found.location, timeout=settings.navigation_seconds * 1000)
        if found.kind == "websocket":
            return await chromium.connect(found.location, timeout=settings.navigation_seconds * 1000)
        return await chromium.launch(**_launch_options(found, settings))
    except PlaywrightError as error:
        raise _unusable(found, error) from error


async def _launch_profile(
    playwright: Playwright, found: BrowserSource, settings: BrowserSettings, proxy: str | None
) -> BrowserContext:
    assert settings.profile is not None
    options = {**_launch_options(found, settings), **_context_options(settings, proxy)}
    try:
        context = await playwright.chromium.launch_persistent_context(settings.profile.expanduser(), **options)
    except PlaywrightError as error:
        raise _unusable(found, error) from error
    await context.add_init_script(source("track"))
    return context


async def _context(
    browser: Browser, found: BrowserSource, settings: BrowserSettings, proxy: str | None
) -> BrowserContext:
    if not (found.kind == "cdp" and settings.join and browser.contexts):
        # A remote browser cannot reach a proxy on our loopback.
        return await new_context(browser, settings, proxy=None if found.remote else proxy)
    await browser.contexts[0].add_init_script(source("track"))
    return browser.contexts[0]


def _launch_options(found: BrowserSource, settings: BrowserSettings) -> dict[str, Any]:
    return {
        "executable_path": found.location,
        "headless": settings.headless,
        "chromium_sandbox": not _is_root(),
        "args": [*QUIET, *settings.arguments],
        # A Ctrl-C is for us: we close the browser when the run ends.
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
    }


def _context_options(settings: BrowserSettings, proxy: str | None) -> dict[str, Any]:
    options: dict[str, Any] = {
        "viewport": settings.viewport.model_dump(),
        "ignore_https_errors": settings.ignore_certificate_errors,
        "accept_downloads": True,
    }
    if settings.proxy is not None:
        password = settings.proxy.password.get_secret_value() if settings.proxy.password else None
        given = {"server": settings.proxy.server, "username": settings.proxy.username, "password": password}
        options["proxy"] = {key: value for key, value in given.items() if value is not None}
    elif proxy is not None:
        options["proxy"] = {"server": proxy}
    return options


def _is_root() -> bool:
    # Chromium's own sandbox refuses to start as root.
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _unusable(found: BrowserSource, error: PlaywrightError) -> UsageError:
    lines = [line.strip(" -") for line in error.message.splitlines()]
    reason = next((line for line in lines if "sandbox" in line.lower() and "FATAL" in line), lines[0])
    return UsageError(f"the browser {found.location} cannot be used: {reason}; check it, or name another one")


async def _close(owned: Browser | BrowserContext, joined: bool) -> None:
    if joined:
        return
    try:
        await owned.close()
    except PlaywrightError:
        # It died before us, which is what closing it wants.
        return
