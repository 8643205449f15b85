"""The actions of the browser tool by name, and how one is performed."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Any

from ....state.errors import ToolFailure
from ..session import BrowserSession
from . import content, dropdowns, files, navigation, pointing, scrolling, tabs, text_entry

Action = Callable[..., Awaitable[str]]
"""A coroutine function: the session first, then what it needs of the call's arguments and of the tool's services."""

ACTIONS: Mapping[str, Action] = {
    "go_to_url": navigation.go_to_url,
    "click_element": pointing.click_element,
    "input_text": text_entry.input_text,
    "scroll_down": scrolling.scroll_down,
    "scroll_up": scrolling.scroll_up,
    "scroll_to_text": scrolling.scroll_to_text,
    "send_keys": text_entry.send_keys,
    "get_dropdown_options": dropdowns.get_dropdown_options,
    "select_dropdown_option": dropdowns.select_dropdown_option,
    "go_back": navigation.go_back,
    "go_forward": navigation.go_forward,
    "refresh": navigation.refresh,
    "web_search": content.web_search,
    "wait": navigation.wait,
    "extract_content": content.extract_content,
    "switch_tab": tabs.switch_tab,
    "open_tab": tabs.open_tab,
    "close_tab": tabs.close_tab,
    "hover": pointing.hover,
    "drag": pointing.drag,
    "click_at": pointing.click_at,
    "upload_file": files.upload_file,
}
"""Every action but `state`, which needs none of this."""

READING = frozenset({"state", "get_dropdown_options", "extract_content"})
"""Actions that change nothing, so that no page needs to settle after them."""


async def perform(session: BrowserSession, name: str, arguments: Mapping[str, Any], services: Mapping[str, Any]) -> str:
    """Do one action and let the page settle; the text for the model.

    Args:
        session: The browser.
        name: One of `ACTIONS`.
        arguments: The call's arguments; those that the action does not know are ignored.
        services: What actions ask for by keyword alone: `ask`, `search`, `credentials`.

    Raises:
        ToolFailure: an argument is missing, or the browser could not do it.
    """
    check_arguments(name, arguments)
    action = ACTIONS[name]
    given = {key: value for key, value in arguments.items() if value is not None} | dict(services)
    known = inspect.signature(action).parameters
    text = await action(session, **{key: value for key, value in given.items() if key in known})
    if name not in READING:
        await session.settle()
    return text


def check_arguments(name: str, arguments: Mapping[str, Any]) -> None:
    """Refuse a call that lacks something.

    Raises:
        ToolFailure: it does; the message names all of it.
    """
    missing = [f"`{each}`" for each in required(name) if arguments.get(each) is None]
    if missing:
        raise ToolFailure(f"{name} needs {' and '.join(missing)}")


@cache
def required(name: str) -> tuple[str, ...]:
    """Arguments that an action cannot do without."""
    if name not in ACTIONS:
        return ()
    parameters = list(inspect.signature(ACTIONS[name]).parameters.values())[1:]
    return tuple(
        parameter.name
        for parameter in parameters
        if parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY
    )
