"""Agents elsewhere, which do tasks of ours over A2A: their names, addresses and keys."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, SecretStr

from .errors import UsageError

PREFIX = "a2a:"
"""What the name of a remote agent begins with; its address follows."""


class RemoteSettings(BaseModel):
    """One remote agent: a `[remotes.NAME]` table."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    url: str
    """Where its card is found."""

    key: SecretStr | None = None
    """Key that it asks for, sent as a bearer token; None for none."""


def remote_address(name: str) -> str:
    """The address in a name like `a2a:https://agents.example`.

    Raises:
        UsageError: it is no http or https address.
    """
    address = name.removeprefix(PREFIX)
    if not re.match(r"https?://[^/\s]+", address):
        raise UsageError(f"{name!r} names no remote agent: write a2a:https://HOST, where its agent card is found")
    return address.rstrip("/")


def remote_name(address: str) -> str:
    """A name for the agent at an address, made of its letters and digits."""
    return "a2a_" + re.sub(r"[^a-z0-9]+", "_", address.partition("://")[2].lower()).strip("_")
