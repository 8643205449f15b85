"""Which settings are secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

from .mcp import McpSettings

SECRET_NAME = re.compile(r"(?i)(key|token|secret|password|passwd|credential|authorization)s?$")
"""Names of settings, variables and arguments whose values are secrets."""


def secret_settings(settings: BaseModel) -> set[str]:
    """The secrets of settings, however deep they stand: fields of the type for it, and texts under secret names."""
    mcp = getattr(settings, "mcp", None)
    listed = mcp.all() if isinstance(mcp, McpSettings) else {}
    return {*_secrets("", settings), *_secrets("", listed)}


def _secrets(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str) and SECRET_NAME.search(name):
        yield value
    elif isinstance(value, (BaseModel, Mapping)):
        for own, item in value.items() if isinstance(value, Mapping) else value:
            yield from _secrets(str(own), item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secrets(name, item)
