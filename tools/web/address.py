"""The addresses that a model may ask for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from ...state.errors import ToolFailure
from .guard import Guard

PORTS = {"http": 80, "https": 443}
"""Port of each scheme of the web."""


@dataclass(frozen=True)
class CheckedAddress:
    """An address of the web whose host a guard let pass."""

    url: str
    """With its scheme."""

    dialled: Sequence[str]
    """Addresses to connect to, best first; the name is not to be resolved again."""


async def checked_address(url: str, guard: Guard) -> CheckedAddress:
    """`url` with its scheme (`https://` where it has none), let through by the guard.

    Raises:
        ToolFailure: it is no web address, or the guard refuses its host.
    """
    url = web_address(url)
    scheme, host, port = split(url)
    return CheckedAddress(url, await guard(host, port or PORTS[scheme]))


def web_address(url: str) -> str:
    """`url` with its scheme (`https://` where it has none). Nothing is resolved.

    Raises:
        ToolFailure: it is no web address.
    """
    url = url.strip()
    if not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d+(?:[/?#]|$))", url):
        url = f"https://{url.removeprefix('//')}"
    scheme, host, _ = split(url)
    if scheme not in PORTS or not host:
        raise ToolFailure(f"{url!r} cannot be opened: give an http:// or https:// address")
    return url


def split(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of a URL; empty strings and None where it has none.

    Raises:
        ToolFailure: it is malformed.
    """
    try:
        parts = urlsplit(url)
        return parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        raise ToolFailure(f"{url!r} is no address: {error}") from error
