"""Pages as Markdown, in pieces that fit into a request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page

from ..web.markdown import to_markdown
from .address import BLANK
from .closed_roots import reveal
from .scripts.library import function

FRAME_SECONDS = 5.0


async def page_markdown(page: Page) -> str:
    """What a page says, its shadow roots and frames included, as Markdown."""
    await reveal(page, page.frames)
    documents = await asyncio.gather(*map(_html, page.frames))
    parts = []
    for frame, html in zip(page.frames, documents, strict=True):
        text = await asyncio.to_thread(to_markdown, html, frame.url)
        if text and frame is not page.main_frame and frame.url != BLANK:
            text = f"## Frame {frame.url}\n\n{text}"
        parts.append(text)
    return "\n\n".join(filter(None, parts))


async def _html(frame: Frame) -> str:
    try:
        async with asyncio.timeout(FRAME_SECONDS):
            html: str = await frame.evaluate(function("html", "html"))
    except (PlaywrightError, TimeoutError):
        # A frame that loads or went away: the others still count.
        return ""
    return html


def pieces(text: str, length: int) -> Iterator[str]:
    """Pieces of at most `length` characters, cut at paragraphs, else at lines, else anywhere."""
    while len(text) > length:
        cut = max(text.rfind("\n\n", 0, length), 0) or max(text.rfind("\n", 0, length), 0) or length
        yield text[:cut].rstrip("\n")
        text = text[cut:].lstrip("\n")
    if text:
        yield text
