"""The names under which a model knows the tools of servers: `server__tool`, unique, and as long as providers allow."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256

LONGEST = 64
"""Characters of a tool's name that every provider takes."""

LONGEST_SERVER = 24
"""Characters of the server's part, so that something of the tool's own name is always left."""

SEPARATOR = "__"
"""Between the server's part and the tool's."""

HASH = 8
"""Characters of the hash that stands for what was cut away."""


def server_parts(servers: Sequence[str]) -> list[str]:
    """The part that each server has in the names of its tools; no two are the same."""
    plain = [_fitted(name, LONGEST_SERVER, name) for name in servers]
    often = Counter(plain)
    return [
        part if often[part] == 1 else _hashed(part, LONGEST_SERVER, name)
        for part, name in zip(plain, servers, strict=True)
    ]


def tool_names(part: str, tools: Sequence[str], taken: Collection[str] = ()) -> list[str]:
    """The names of the tools of the server with this part, in their order; none is among `taken`."""
    plain = [_fitted(f"{part}{SEPARATOR}{tool}", LONGEST, tool) for tool in tools]
    often = Counter([*plain, *taken])
    return [
        name if often[name] == 1 else _hashed(name, LONGEST, f"{part} {tool}")
        for name, tool in zip(plain, tools, strict=True)
    ]


def _fitted(text: str, longest: int, whole: str) -> str:
    name = re.sub(r"[^A-Za-z0-9_-]", "_", text)
    return name if len(name) <= longest else _hashed(name, longest, whole)


def _hashed(name: str, longest: int, whole: str) -> str:
    digest = sha256(whole.encode()).hexdigest()[:HASH]
    return f"{name[: longest - HASH - 1]}_{digest}"
