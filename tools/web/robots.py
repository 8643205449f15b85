"""What sites ask of programs: robots.txt (RFC 9309)."""

from __future__ import annotations

from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import httpx

from ...state.errors import ToolFailure
from .cache import RecentCache
from .download import Permission, download

AGENT = "clew"
"""Name under which robots.txt may speak of this program."""

CACHE_SECONDS = 3600.0
CACHED_SITES = 256

MAX_BYTES = 500 * 1024
"""Bytes that are read: the least that RFC 9309 asks for."""

MAX_REDIRECTS = 5
"""Redirects that are followed: the least that RFC 9309 asks for."""


class Robots:
    """Rules of sites, kept for an hour. They are read by `urllib.robotparser`, which knows no wildcards."""

    def __init__(self) -> None:
        self._rules: RecentCache[str, RobotFileParser] = RecentCache(CACHED_SITES, CACHE_SECONDS)

    def permission(self, client: httpx.AsyncClient) -> Permission:
        """Refuses addresses that their site asks programs not to read."""

        async def ask(url: str) -> None:
            parts = urlsplit(url)
            site = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
            rules = self._rules.get(site)
            if rules is None:
                rules = await _load(client, f"{site}/robots.txt")
                self._rules.put(site, rules)
            if not rules.can_fetch(AGENT, url):
                raise ToolFailure(f"the robots.txt of {site} asks programs not to read {url}: use another source")

        return ask


async def anything(url: str) -> None:
    """The permission that refuses nothing."""


async def _load(client: httpx.AsyncClient, url: str) -> RobotFileParser:
    answer = await download(client, url, anything, max_redirects=MAX_REDIRECTS, max_bytes=MAX_BYTES)
    if answer.status >= 500:
        raise ToolFailure(f"{url} answers {answer.status}, so nobody knows what may be read: try again later")
    rules = RobotFileParser()
    found = answer.status < 400
    rules.parse(answer.content.decode("utf-8-sig", errors="replace").splitlines() if found else [])
    return rules
