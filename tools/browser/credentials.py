"""Secrets that are typed into pages and that the model knows by name alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...state.browser import Credential
from ...state.errors import ToolFailure
from ..web.address import split
from .guard import in_domain

PLACEHOLDER = re.compile(r"<secret>([\w.-]+)</secret>")
"""How a model names a secret in the text that it types."""


__all__ = ["PLACEHOLDER", "Credential", "Credentials", "fill_in", "mask", "mask_all"]

Credentials = Mapping[str, Credential]


def fill_in(text: str, credentials: Credentials, url: str) -> str:
    """`text` with its placeholders replaced, for a page or frame at `url`.

    Raises:
        ToolFailure: there is no such secret, or it is not for this site.
    """
    host = split(url)[1]

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name not in credentials:
            raise ToolFailure(f"there is no secret {name!r}: there are {', '.join(sorted(credentials)) or 'none'}")
        if not any(in_domain(host, domain) for domain in credentials[name].domains):
            raise ToolFailure(f"the secret {name!r} is not for {host or url}: type it on the site that it belongs to")
        return credentials[name].value.get_secret_value()

    return PLACEHOLDER.sub(value, text)


def mask(text: str, credentials: Credentials) -> str:
    """`text` with each secret's value replaced by its placeholder."""
    for name, credential in credentials.items():
        if value := credential.value.get_secret_value():
            text = text.replace(value, f"<secret>{name}</secret>")
    return text


def mask_all(value: Any, credentials: Credentials) -> Any:
    """Plain JSON with `mask` applied to each string in it."""
    if isinstance(value, str):
        return mask(value, credentials)
    if isinstance(value, dict):
        return {key: mask_all(each, credentials) for key, each in value.items()}
    return [mask_all(each, credentials) for each in value] if isinstance(value, list) else value
