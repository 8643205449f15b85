"""Push notifications, through the guard: nobody makes this server call into its own network."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from a2a.server.tasks import BasePushNotificationSender, PushNotificationConfigStore

from ...state.errors import ToolFailure
from ...tools.web.address import PORTS
from ...tools.web.guard import Guard, PublicAddresses
from ...tools.web.transport import guarded_client

SECONDS = 10.0
"""Seconds that one notification may take."""


class PushGuard:
    """Says which addresses a caller may be told under: those of http and https at a public host."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def __call__(self, url: str) -> bool:
        """Whether a notification may go there."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port or PORTS.get(parts.scheme, 0)
            return bool(parts.scheme in ("http", "https") and host and await self._guard(host, port))
        except (ValueError, ToolFailure):
            return False


@asynccontextmanager
async def open_sender(
    store: PushNotificationConfigStore, allowed_hosts: Sequence[str]
) -> AsyncIterator[tuple[BasePushNotificationSender, PushGuard]]:
    """What sends the notifications, and what says where to. The address that is checked is the one that is dialled.

    Args:
        store: Where callers want to be told of their tasks.
        allowed_hosts: Hosts in private networks that may be told.
    """
    guard = PublicAddresses(allowed_hosts)
    async with await guarded_client(guard, user_agent="clew", seconds=SECONDS) as client:
        check = PushGuard(guard)
        yield BasePushNotificationSender(client, store, push_url_validator=check), check
