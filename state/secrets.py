"""Which settings and variables are secrets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, SecretStr

from .mcp import McpSettings
from .secret_shapes import LOGIN

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_ANYWHERE = re.compile(
    r"(?:password|passwd|passphrase|secret|token|credential|api_?key|access_?key|connection_?string)s?(?![a-z])"
)
"""What makes a name that of a secret wherever it stands."""

_AT_THE_END = re.compile(r"(?<!mon)(?<!tur)(?<!hot)(?:key|pass|auth|authorization|dsn|cred|cookie|_pat|_pwd)s?$")
"""What makes a name that of a secret if nothing but a qualifier follows."""

_QUALIFIERS = {"live", "test", "prod", "production", "staging", "dev", "old", "new", "primary", "secondary", "base"}
"""Words that say which of several secrets it is."""

_PROPERTIES = {
    *("path", "file", "dir", "directory", "folder", "sock", "socket", "url", "uri", "endpoint", "host", "port"),
    *("name", "id", "type", "format", "version", "user", "provider", "helper", "store", "policy", "mode", "method"),
    *("size", "length", "limit", "count", "budget", "timeout", "ttl", "expiry", "expires", "age", "minute", "usage"),
}
"""Words at the end of a name that is of something about a secret, and not of the secret."""

_HARMLESS = {"public", "publishable", "max", "min"}
"""Words of names that are of no secret."""

_LOGIN = re.compile(LOGIN)


def is_secret_name(name: str) -> bool:
    """Whether a setting, a variable or an argument of that name holds a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    while words and words[-1] in _QUALIFIERS:
        words.pop()
    if not words or words[-1] in _PROPERTIES or not _HARMLESS.isdisjoint(words):
        return False
    joined = "_".join(words)
    return bool(_ANYWHERE.search(joined) or _AT_THE_END.search(joined))


def secret_parts(name: str, value: str) -> Iterator[str]:
    """What is secret of a named text: the whole, unless it is a path or a number, or the passwords of its addresses."""
    if is_secret_name(name) and not _is_harmless(name, value):
        yield value
    for found in _LOGIN.finditer(value) if "@" in value else ():
        password = found[2].partition(":")[2]
        yield from {password, unquote(password)}


def known_secrets(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The secrets of the environment, by the names that they have there."""
    return sorted({secret for name, value in environment.items() for secret in secret_parts(name, value) if secret})


def secret_settings(settings: BaseModel) -> set[str]:
    """The secrets of settings, however deep they stand: fields of the type for it, and texts under secret names."""
    mcp = getattr(settings, "mcp", None)
    listed = mcp.all() if isinstance(mcp, McpSettings) else {}
    return {*_secrets("", settings), *_secrets("", listed)}


def _is_harmless(name: str, value: str) -> bool:
    # A password may be a number, other secrets are none.
    return _is_path(value) or (value.isdecimal() and "pass" not in name.lower())


def _is_path(value: str) -> bool:
    # A key in base64 may begin with a slash, so only what is there is a path.
    with suppress(OSError, RuntimeError, ValueError):
        return value.startswith(("/", "~", "./", "../")) and Path(value).expanduser().exists()
    return False


def _secrets(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, str):
        yield from secret_parts(name, value)
    elif isinstance(value, (BaseModel, Mapping)):
        for own, item in value.items() if isinstance(value, Mapping) else value:
            yield from _secrets(str(own), item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _secrets(name, item)
