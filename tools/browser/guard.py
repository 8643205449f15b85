"""The settings' rules of where the browser may connect to."""

from __future__ import annotations

from collections.abc import Sequence

from ...state.errors import ToolFailure
from ..web.guard import Guard
from .settings import BrowserSettings


class DomainRules:
    """The settings' allowed and denied domains, in front of another guard."""

    def __init__(self, settings: BrowserSettings, guard: Guard) -> None:
        self._allowed = settings.allowed_domains
        self._denied = settings.denied_domains
        self._guard = guard

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Addresses of `host` if the rules let it pass."""
        if any(in_domain(host, domain) for domain in self._denied):
            raise ToolFailure(f"{host} is among the denied domains: use another site")
        if self._allowed and not any(in_domain(host, domain) for domain in self._allowed):
            raise ToolFailure(f"{host} is not among the allowed domains ({', '.join(self._allowed)})")
        return await self._guard(host, port)


def in_domain(host: str, domain: str) -> bool:
    """Whether `host` is `domain` or below it; a leading `*.` of the domain changes nothing."""
    domain = domain.lower().removeprefix("*.").strip(".")
    host = host.lower().rstrip(".")
    return host == domain or host.endswith(f".{domain}")
