"""Closed shadow roots that the HTML of a page declares, which no script in the page can see.

Those that scripts attach are caught by `track.js`. These are found through the browser's own protocol, and the tracker
is told of them, so that all that reads the page reads them too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from playwright.async_api import BrowserContext, CDPSession, Frame, Page
from playwright.async_api import Error as PlaywrightError

from .scripts.library import source

REVEAL_SECONDS = 3.0
"""Time that one process of a page has to answer."""

EVERYTHING = ""
"""A search that finds each node outside of the browser's own shadow roots; processing instructions are none to it."""

OUTSIDE = "/*/descendant-or-self::node()[not(self::processing-instruction())]"
"""A search that finds the same, but for what is in shadow roots."""


async def reveal(page: Page, frames: Iterable[Frame]) -> bool:
    """Tell the tracker of each closed root in the page and in those of the frames that have their own process.

    Returns:
        Whether there are any.
    """
    targets: list[Page | Frame] = [page, *(frame for frame in frames if frame.parent_frame)]
    return any(await asyncio.gather(*(_reveal(page.context, target) for target in targets)))


async def _reveal(context: BrowserContext, target: Page | Frame) -> bool:
    try:
        async with asyncio.timeout(REVEAL_SECONDS):
            session = await context.new_cdp_session(target)
            found = await _register(session)
            await session.detach()
    except (PlaywrightError, TimeoutError):
        # A frame in the process of its page, one that went away or hangs, or a browser that keeps its protocol.
        return False
    return found


async def _register(session: CDPSession) -> bool:
    await session.send("DOM.enable")
    # The tree of a large page takes a tenth of a second; to count its nodes takes a few milliseconds.
    everything, outside = await asyncio.gather(_count(session, EVERYTHING), _count(session, OUTSIDE))
    if everything == outside:
        return False
    document = await session.send("DOM.getDocument", {"depth": -1, "pierce": True})
    roots = list(_closed_roots(document["root"]))
    await asyncio.gather(*(_tell(session, root) for root in roots))
    return bool(roots)


async def _count(session: CDPSession, query: str) -> int:
    count: int = (await session.send("DOM.performSearch", {"query": query}))["resultCount"]
    return count


def _closed_roots(node: dict[str, Any]) -> Iterator[int]:
    pending = [node]
    while pending:
        node = pending.pop()
        if node.get("shadowRootType") == "closed":
            yield node["backendNodeId"]
        pending += [*node.get("children", ()), *node.get("shadowRoots", ())]
        if "contentDocument" in node:
            pending.append(node["contentDocument"])


async def _tell(session: CDPSession, root: int) -> None:
    found = await session.send("DOM.resolveNode", {"backendNodeId": root, "objectGroup": "clew"})
    called = {"objectId": found["object"]["objectId"], "functionDeclaration": source("reveal")}
    await session.send("Runtime.callFunctionOn", called)
