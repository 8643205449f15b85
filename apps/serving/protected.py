"""An app behind everything that a server of ours has around it."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address

from starlette.types import ASGIApp

from ...state.errors import UsageError
from ...state.serving import ServeSettings
from .body_limit import BodyLimit
from .callers import Authentication
from .origin import LOOPBACK, SameOrigin


def protected(app: ASGIApp, settings: ServeSettings, host: str, public: Collection[str] = ()) -> ASGIApp:
    """The app behind the checks of Host and Origin, the body limit and the keys.

    Args:
        app: What is served.
        settings: Who may call.
        host: Address that is served; a loopback one answers to every name of this machine.
        public: Paths that need no key.

    Raises:
        UsageError: the address is open to other machines and no caller has a key.
    """
    if not settings.keys and not is_loopback(host):
        advice = "give each caller one in the [serve.keys] table, or serve 127.0.0.1"
        raise UsageError(f"{host} is open to other machines and no caller has a key: {advice}")
    hosts = {host, *settings.allowed_hosts, *(LOOPBACK if is_loopback(host) else ())}
    guarded = Authentication(app, settings.keys, public)
    return SameOrigin(BodyLimit(guarded, settings.max_body_bytes), hosts, settings.allowed_origins)


def is_loopback(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
