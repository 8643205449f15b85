"""Lists to choose from."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import ElementHandle
from typing_extensions import TypedDict

from ....state.errors import ToolFailure
from ..failures import failures_of
from ..scripts.library import function
from ..session import BrowserSession
from .pointing import click

MOST = 200
"""Options that are told of."""


class Option(TypedDict):
    """One entry of a list."""

    text: str
    value: str
    selected: bool
    disabled: bool


async def get_dropdown_options(session: BrowserSession, index: int) -> str:
    """Tell what a list offers."""
    options = await _options(await session.element(index), index)
    lines = [_told(place, option) for place, option in enumerate(options[:MOST])]
    if len(options) > MOST:
        lines.append(f"… {len(options) - MOST} more")
    return "\n".join([f"options of [{index}]:", *lines])


async def select_dropdown_option(session: BrowserSession, index: int, text: str) -> str:
    """Choose the option that says `text`."""
    handle = await session.element(index)
    options = await _options(handle, index)
    place = _find(options, text, index)
    with failures_of(f"{text!r} could not be chosen in [{index}]"):
        await _choose(session, handle, session.elements.element(index).tag, options, place)
    return f"chose {options[place]['text']!r} in [{index}]"


async def _options(handle: ElementHandle, index: int) -> list[Option]:
    with failures_of(f"the options of [{index}] cannot be read"):
        options: list[Option] | None = await handle.evaluate(function("field", "optionsOf"))
    if options is None:
        raise ToolFailure(f"[{index}] is no list of options: click it and take the state to see what it opens")
    return options


async def _choose(
    session: BrowserSession, handle: ElementHandle, tag: str, options: Sequence[Option], place: int
) -> None:
    timeout = session.settings.action_seconds * 1000
    if tag == "select":
        chosen = [place]
        if (await handle.evaluate(function("field", "field")))["multiple"]:
            chosen += [other for other, option in enumerate(options) if option["selected"] and other != place]
        await handle.select_option(index=chosen, timeout=timeout)
    elif tag == "input":
        await handle.fill(options[place]["value"], timeout=timeout)
    else:
        item = (await handle.evaluate_handle(function("field", "itemOf"), {"place": place})).as_element()
        assert item is not None
        await click(session, item, f"the option {options[place]['text']!r}")


def _find(options: Sequence[Option], text: str, index: int) -> int:
    wanted = " ".join(text.split()).lower()
    for fits in (
        lambda option: option["text"].lower() == wanted,
        lambda option: option["value"].lower() == wanted,
        lambda option: wanted and wanted in option["text"].lower(),
    ):
        for place, option in enumerate(options):
            if fits(option):
                if option["disabled"]:
                    raise ToolFailure(f"the option {option['text']!r} of [{index}] is disabled: choose another one")
                return place
    known = ", ".join(option["text"] for option in options[:20])
    raise ToolFailure(f"[{index}] has no option {text!r}: it offers {known}")


def _told(place: int, option: Option) -> str:
    flags = "".join(f" ({name})" for name in ("selected", "disabled") if option[name])
    return f"{place}: {option['text']}{flags}"
