"""What the frames of a page hold, collected by the script in each of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Frame, Page
from typing_extensions import NotRequired, TypedDict

from ...state.errors import ToolFailure
from .closed_roots import reveal
from .scripts.library import function
from .settings import BrowserSettings

FRAME_SECONDS = 3.0
"""Time that one frame has to answer."""

STILL_MILLISECONDS = 50
"""A page is at rest when nothing in it changed for so long."""

SHORT_PAUSE_SECONDS = 0.004
LONG_PAUSE_SECONDS = 0.04

Region = Sequence[float]
"""Left, top, right and bottom of the part of a frame that shows, in its own CSS pixels."""


class Beyond(TypedDict):
    """Interactive elements outside of what is covered."""

    above: int
    below: int


class Collected(TypedDict):
    """What `collect.js` returns for one frame."""

    items: list[list[Any]]
    beyond: Beyond
    token: str
    declared: int
    """How often a script put in HTML that may declare shadow roots."""

    still: float
    title: str
    ready: str
    scroll: list[int]
    page: list[int]
    view: list[int]
    same: NotRequired[bool]
    """Of `collectTwice`: whether both looks were equal; missing where there was one."""


@dataclass(frozen=True)
class Capture:
    """One look at a page."""

    page: Page
    frames: dict[Frame, Collected]
    """What each frame holds; frames that did not answer are missing."""

    children: dict[tuple[Frame, int], Frame]
    """The frame inside a frame element, by parent frame and element number."""

    @property
    def main(self) -> Collected:
        """The top frame."""
        return self.frames[self.page.main_frame]

    @property
    def at_rest(self) -> bool:
        """Whether nothing in it changed just now."""
        return self.main["ready"] != "loading" and all(
            collected["still"] >= STILL_MILLISECONDS for collected in self.frames.values()
        )

    def same(self, other: Capture) -> bool:
        """Whether both show the same."""
        return self.frames.keys() == other.frames.keys() and all(
            mine["items"] == other.frames[frame]["items"] and mine["token"] == other.frames[frame]["token"]
            for frame, mine in self.frames.items()
        )


class Collector:
    """Looks at pages. Remembers which element holds which frame, and where closed shadow roots were looked for."""

    def __init__(self, settings: BrowserSettings) -> None:
        self._settings = settings
        self._numbers: WeakKeyDictionary[Frame, int] = WeakKeyDictionary()
        self._revealed: WeakKeyDictionary[Frame, tuple[str, int]] = WeakKeyDictionary()

    async def settled(self, page: Page) -> Capture:
        """Look until two captures in a row are equal and the page is at rest, within the bound of the settings.

        Raises:
            ToolFailure: the page does not answer.
            playwright.async_api.Error: the page went elsewhere or closed meanwhile.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._settings.settle_seconds
        capture = await self._look(page, twice=True)
        if capture.at_rest and capture.main.get("same"):
            return capture
        while loop.time() < deadline:
            await asyncio.sleep(SHORT_PAUSE_SECONDS if capture.at_rest else LONG_PAUSE_SECONDS)
            before, capture = capture, await self._look(page)
            if capture.at_rest and capture.same(before):
                break
        return capture

    async def _look(self, page: Page, *, twice: bool = False) -> Capture:
        capture = await self.capture(page, twice=twice)
        documents = {frame: (found["token"], found["declared"]) for frame, found in capture.frames.items()}
        new = [frame for frame, document in documents.items() if self._revealed.get(frame) != document]
        if not new:
            return capture
        # What still loads may declare more.
        loaded = [frame for frame in new if capture.frames[frame]["ready"] != "loading"]
        self._revealed.update((frame, documents[frame]) for frame in loaded)
        return await self.capture(page, twice=twice) if await reveal(page, new) else capture

    async def capture(self, page: Page, *, twice: bool = False) -> Capture:
        """Look once: the top frame, then the frames that show in it, and so on.

        With `twice`, a page at rest without frames is looked at two times, in one visit: see `Collected.same`.

        Raises:
            ToolFailure: the page does not answer.
            playwright.async_api.Error: the page went elsewhere or closed meanwhile.
        """
        capture = Capture(page, {}, {})
        level: list[tuple[Frame, Region | None]] = [(page.main_frame, None)]
        while level:
            name = "collectTwice" if twice and level[0][0] is page.main_frame else "collect"
            found = await asyncio.gather(*(self._collect(page, frame, region, name) for frame, region in level))
            answered = [(frame, collected) for (frame, _), collected in zip(level, found, strict=True) if collected]
            capture.frames.update(answered)
            inner = await asyncio.gather(*(self._children(frame, collected) for frame, collected in answered))
            level = []
            for parent, children in inner:
                for number, child, region in children:
                    capture.children[parent, number] = child
                    level.append((child, region))
        return capture

    async def _collect(self, page: Page, frame: Frame, region: Region | None, name: str) -> Collected | None:
        try:
            async with asyncio.timeout(FRAME_SECONDS):
                return await self._evaluate(frame, region, name)
        except TimeoutError as error:
            if frame is page.main_frame:
                raise ToolFailure("the page does not answer: use refresh, go_to_url or close_tab") from error
        except PlaywrightError:
            if frame is page.main_frame:
                raise
        # A frame that loads, hangs or went away meanwhile: the state says that it did not answer.
        return None

    async def _evaluate(self, frame: Frame, region: Region | None, name: str) -> Collected:
        pause = SHORT_PAUSE_SECONDS * 1000
        options = {"margin": self._settings.margin, "region": region, "rest": STILL_MILLISECONDS, "pause": pause}
        collected: Collected = json.loads(await frame.evaluate(function("collect", name), options))
        return collected

    async def _children(self, frame: Frame, collected: Collected) -> tuple[Frame, list[tuple[int, Frame, Region]]]:
        regions = {item[1]: item[2] for item in collected["items"] if item[0] == "frame"}
        children = frame.child_frames if regions else []
        numbers = await asyncio.gather(*map(self._number, children))
        found = zip(numbers, children, strict=True)
        return frame, [(number, child, regions[number]) for number, child in found if number in regions]

    async def _number(self, frame: Frame) -> int:
        if frame not in self._numbers:
            try:
                element = await frame.frame_element()
                self._numbers[frame] = await element.evaluate(function("number", "number"))
                await element.dispose()
            except PlaywrightError:
                # The frame was taken out meanwhile.
                return 0
        return self._numbers[frame]
