"""Playwright's errors as sentences that a model can act on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from playwright.async_api import Error as PlaywrightError

from ...state.errors import ToolFailure

ADVICE: Mapping[str, str] = {
    "Target crashed": "the tab crashed: use refresh to load it again, or open_tab",
    "Page crashed": "the tab crashed: use refresh to load it again, or open_tab",
    "has been closed": "the tab or the browser was closed: use open_tab",
    "ERR_CERT_": "the certificate of the site is not trusted: try another address",
    "ERR_NAME_NOT_RESOLVED": "there is no such host: check the address",
    "ERR_CONNECTION_REFUSED": "nothing answers at this address: check host and port",
    "ERR_CONNECTION_": "the connection broke: try again or try another address",
    "ERR_SOCKS_CONNECTION_FAILED": "the address cannot be reached: check host and port",
    "ERR_INTERNET_DISCONNECTED": "there is no network here",
    "ERR_TOO_MANY_REDIRECTS": "the site redirects in a circle: try another address",
    "ERR_INVALID_URL": "this is no address: give one such as https://example.com/",
    "Cannot navigate to invalid URL": "this is no address: give one such as https://example.com/",
    "ERR_EMPTY_RESPONSE": "the server sent nothing: try again or try another address",
    "ERR_ABORTED": "the load was stopped, by a download or by the page itself: take the state",
    "Element is not attached": "the element is gone: take a fresh state",
    "not attached to the DOM": "the element is gone: take a fresh state",
    "Execution context was destroyed": "the page went elsewhere meanwhile: take a fresh state",
    "Frame was detached": "the frame is gone: take a fresh state",
    "Malformed value": "the field does not take this value: give it in the form that the field asks for",
    "Input of type": "the field takes no typed text: click it or use another action",
    "not visible": "the element is not visible: scroll to it or take a fresh state",
    "not enabled": "the element is disabled: fill what it waits for first",
    "Timeout": "it took too long: wait and take a fresh state",
}
"""What to do, by a part of Playwright's message; the first that fits counts."""


@contextmanager
def failures_of(what: str) -> Iterator[None]:
    """Turn an error of Playwright inside into a `ToolFailure` that begins with `what`.

    Raises:
        ToolFailure: Playwright could not do it.
    """
    try:
        yield
    except PlaywrightError as error:
        raise ToolFailure(f"{what}: {explain(error)}") from error


def explain(error: PlaywrightError) -> str:
    """One sentence for an error of Playwright: the advice that fits, and the message's first line."""
    first = error.message.partition("\n")[0].strip()
    for part, advice in ADVICE.items():
        if part in error.message:
            return f"{advice} ({first})"
    return first
