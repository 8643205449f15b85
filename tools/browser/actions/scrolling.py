"""Moving over the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from playwright.async_api import Frame

from ....state.errors import ToolFailure
from ..closed_roots import reveal
from ..failures import failures_of
from ..scripts.library import function
from ..session import BrowserSession

FRAME_SECONDS = 3.0
"""Time that one frame has to answer."""


async def scroll_down(session: BrowserSession, scroll_amount: int | None = None, index: int | None = None) -> str:
    """Scroll down by pixels, or by the height of the window."""
    return await _scroll(session, 1, scroll_amount, index)


async def scroll_up(session: BrowserSession, scroll_amount: int | None = None, index: int | None = None) -> str:
    """Scroll up by pixels, or by the height of the window."""
    return await _scroll(session, -1, scroll_amount, index)


async def scroll_to_text(session: BrowserSession, text: str) -> str:
    """Bring a text of the page into view."""
    page = await session.page()
    with failures_of("the page could not be searched"):
        await reveal(page, page.frames)
        for frame in page.frames:
            if await _ask(frame, "scrollToText", {"text": text}):
                return f"scrolled to {text!r}"
    raise ToolFailure(f"the page does not say {text!r}: try a shorter part of it, or extract_content")


async def _scroll(session: BrowserSession, direction: int, amount: int | None, index: int | None) -> str:
    options = {"direction": direction, "amount": amount}
    moved = 0
    with failures_of("the page could not be scrolled"):
        if index is not None:
            handle = await session.element(index)
            moved = await handle.evaluate(function("scroll", "scrollBy"), options)
        else:
            for frame in (await session.page()).frames:
                if moved := await _ask(frame, "scrollBy", options) or 0:
                    break
    if not moved:
        return f"nothing moved: this is the {'bottom' if direction > 0 else 'top'}"
    return f"scrolled {'down' if moved > 0 else 'up'} by {abs(moved)} px"


async def _ask(frame: Frame, name: str, options: Mapping[str, Any]) -> int | None:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            answer: int | None = await frame.evaluate(function("scroll", name), options)
    except TimeoutError:
        # A frame that hangs: the others may have it.
        return None
    return answer
