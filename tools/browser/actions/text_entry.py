"""What a keyboard does."""

from __future__ import annotations

from typing import Any

from playwright.async_api import ElementHandle
from playwright.async_api import Error as PlaywrightError

from ....state.errors import ToolFailure
from ..credentials import Credentials, fill_in
from ..failures import failures_of
from ..scripts.library import function
from ..session import BrowserSession

TYPED = frozenset({"text", "search", "email", "url", "tel", "password", "number", "textarea", ""})
"""Kinds of fields that take key after key; the others are set at once."""

LONGEST_TYPED = 300
"""Characters that are typed one by one, as pages that suggest and check expect; longer text is put in at once."""

UNTYPED = {
    "checkbox": "click_element",
    "radio": "click_element",
    "button": "click_element",
    "submit": "click_element",
    "reset": "click_element",
    "image": "click_element",
    "file": "upload_file",
    "select-one": "select_dropdown_option",
    "select-multiple": "select_dropdown_option",
}
"""What to use for controls that take no text."""

VEIL = "(element) => { element.style.webkitTextSecurity = 'disc'; }"
"""Shows dots in place of a secret, in whatever field: pictures of the page go to models and into files."""

FORMS = "dates are YYYY-MM-DD, times HH:MM, months YYYY-MM, weeks YYYY-Www, colours #rrggbb"

KEY_NAMES = {
    "ctrl": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "option": "Alt",
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "space": "Space",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pgup": "PageUp",
    "pgdn": "PageDown",
}
"""Other names of keys, in lower case."""


async def input_text(session: BrowserSession, index: int, text: str, *, credentials: Credentials) -> str:
    """Put a text into a field, in place of what it holds."""
    handle = await session.element(index)
    with failures_of(f"[{index}] takes no text"):
        field: dict[str, Any] = await handle.evaluate(function("field", "field"))
    _check(field, index)
    written = fill_in(text, credentials, session.elements.element(index).frame.url)
    with failures_of(f"the text could not be put into [{index}]"):
        if written != text:
            await handle.evaluate(VEIL)
        await _write(session, handle, field, written)
        now = (await handle.evaluate(function("field", "field")))["value"]
    if written and not now and field["type"] not in TYPED:
        raise ToolFailure(f"[{index}] does not take {text!r}: {FORMS}")
    if field["type"] != "password" and now.strip() != written.strip():
        return f"put the text into [{index}], which holds {now!r} now"
    return f"put the text into [{index}]"


async def send_keys(session: BrowserSession, keys: str) -> str:
    """Press keys, such as `Enter` or `Control+a`; several are separated by blanks. Other text is typed."""
    page = await session.page()
    with failures_of("the keys could not be sent"):
        try:
            for key in keys.split() or [keys]:
                await page.keyboard.press(_key(key))
        except PlaywrightError as error:
            if "Unknown key" not in error.message:
                raise
            await page.keyboard.type(keys)
    return f"sent {keys!r}"


def _check(field: dict[str, Any], index: int) -> None:
    if field["type"] in UNTYPED:
        raise ToolFailure(f"[{index}] is a {field['type']} control, which takes no text: use {UNTYPED[field['type']]}")
    if field["disabled"] or field["readonly"]:
        raise ToolFailure(f"[{index}] is {'disabled' if field['disabled'] else 'read-only'}: it cannot be changed")
    if field["tag"] not in ("input", "textarea") and not field["editable"]:
        raise ToolFailure(f"[{index}] is a <{field['tag']}>, which takes no text: click it and use send_keys")


async def _write(session: BrowserSession, handle: ElementHandle, field: dict[str, Any], text: str) -> None:
    timeout = session.settings.action_seconds * 1000
    by_key = field["editable"] or field["type"] in TYPED
    if by_key and text and "\n" not in text and len(text) <= LONGEST_TYPED:
        await handle.select_text(timeout=timeout)
        await handle.type(text, timeout=timeout + 100 * len(text))
    else:
        await handle.fill(text, timeout=timeout)


def _key(name: str) -> str:
    if name == "+":
        return name
    return "+".join(KEY_NAMES.get(part.lower(), part) for part in name.split("+"))
