"""What a mouse does."""

from __future__ import annotations

import asyncio
from typing import Any

from playwright.async_api import ElementHandle, Position

from ....state.errors import ToolFailure
from ..failures import failures_of
from ..scripts.library import function
from ..session import BrowserSession

TRANSIENT_SECONDS = 0.4
"""Time that a passing overlay, such as an animation, has to go away."""

STEPS = 12
"""Mouse moves of a drag: pages that follow the mouse want to see it on the way."""


async def click_element(session: BrowserSession, index: int) -> str:
    """Click an element."""
    element = session.elements.element(index)
    if element.tag == "select":
        raise ToolFailure(f"[{index}] is a drop-down list: use select_dropdown_option with its text")
    await click(session, await session.element(index), f"[{index}]")
    return f"clicked [{index}]"


async def hover(session: BrowserSession, index: int) -> str:
    """Rest the mouse on an element."""
    handle = await session.element(index)
    what = f"[{index}] could not be hovered"
    position = await _reachable(session, handle, f"[{index}]", what)
    with failures_of(what):
        await handle.hover(position=position, timeout=_timeout(session))
    return f"the mouse rests on [{index}]"


async def click_at(session: BrowserSession, x: float, y: float) -> str:
    """Click at a point of the viewport, in CSS pixels from its top left corner."""
    page = await session.page()
    size = page.viewport_size
    if size is not None and not (0 <= x < size["width"] and 0 <= y < size["height"]):
        raise ToolFailure(
            f"({x:g}, {y:g}) is outside the viewport of {size['width']} x {size['height']} px: scroll first"
        )
    with failures_of("the click failed"):
        await page.mouse.click(x, y)
    return f"clicked at ({x:g}, {y:g})"


async def drag(
    session: BrowserSession, index: int, to_index: int | None = None, x: float | None = None, y: float | None = None
) -> str:
    """Drag an element onto another one, or to a point of the viewport."""
    if to_index is None and (x is None or y is None):
        raise ToolFailure("drag needs `to_index`, or `x` and `y`, for where to drop the element")
    page = await session.page()
    with failures_of(f"[{index}] could not be dragged"):
        source = await session.element(index)
        await source.scroll_into_view_if_needed(timeout=_timeout(session))
        start = await _middle(source, index)
        end = (x or 0, y or 0) if to_index is None else await _middle(await session.element(to_index), to_index)
        await page.mouse.move(*start)
        await page.mouse.down()
        try:
            await page.mouse.move(*end, steps=STEPS)
            # Pages that learn of a drop place on the way there need one more move over it.
            await page.mouse.move(*end)
        finally:
            await page.mouse.up()
    target = f"[{to_index}]" if to_index is not None else f"({x:g}, {y:g})"
    return f"dragged [{index}] to {target}"


async def click(session: BrowserSession, handle: ElementHandle, name: str) -> None:
    """Click an element at a point where nothing covers it.

    Raises:
        ToolFailure: it is covered, disabled, invisible or gone.
    """
    what = f"{name} could not be clicked"
    with failures_of(what):
        if not await handle.is_enabled():
            raise ToolFailure(f"{name} is disabled: fill or choose what it waits for first")
    position = await _reachable(session, handle, name, what)
    with failures_of(what):
        await handle.click(position=position, timeout=_timeout(session))


async def _reachable(session: BrowserSession, handle: ElementHandle, name: str, what: str) -> Position:
    with failures_of(what):
        await handle.scroll_into_view_if_needed(timeout=_timeout(session))
        spot = await _spot(handle)
        if "over" in spot:
            await asyncio.sleep(TRANSIENT_SECONDS)
            spot = await _spot(handle)
    if "over" in spot:
        raise ToolFailure(f"{name} is covered by {spot['over']}: close or act on that first, or scroll")
    return Position(x=spot["x"], y=spot["y"])


async def _spot(handle: ElementHandle) -> dict[str, Any]:
    spot: dict[str, Any] = await handle.evaluate(function("point", "point"))
    return spot


async def _middle(handle: ElementHandle, index: int) -> tuple[float, float]:
    box = await handle.bounding_box()
    if box is None:
        raise ToolFailure(f"[{index}] is not visible: take a fresh state")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def _timeout(session: BrowserSession) -> float:
    return session.settings.action_seconds * 1000
