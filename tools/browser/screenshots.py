"""Pictures of pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from .elements import ElementTable
from .scripts.library import function

QUALITY = 70
"""JPEG quality: text stays legible."""

DRAW_SECONDS = 10.0


async def screenshot(page: Page, labels: ElementTable | None) -> bytes:
    """The viewport as JPEG; with the indices of `labels` drawn over their elements.

    Raises:
        playwright.async_api.Error: the page cannot be drawn.
    """
    if labels is None:
        return await _take(page)
    async with _drawn(page, labels):
        return await _take(page)


async def _take(page: Page) -> bytes:
    return await page.screenshot(type="jpeg", quality=QUALITY, scale="css", timeout=DRAW_SECONDS * 1000)


@asynccontextmanager
async def _drawn(page: Page, labels: ElementTable) -> AsyncIterator[None]:
    frames = [frame for frame in page.frames if labels.of(frame)]
    await asyncio.gather(*(_run(frame, "draw", labels.of(frame)) for frame in frames))
    try:
        yield
    finally:
        await asyncio.gather(*(_run(frame, "erase", []) for frame in frames))


async def _run(frame: Frame, name: str, labels: list[tuple[int, int]]) -> None:
    try:
        await frame.evaluate(function("draw", name), {"labels": labels})
    except PlaywrightError:
        # A frame that went away has nothing to draw on.
        return
