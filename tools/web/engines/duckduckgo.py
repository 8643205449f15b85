"""DuckDuckGo, without a key, through the page for browsers without scripts and the package `ddgs`."""

from __future__ import annotations

import asyncio
from typing import Any

from ddgs.engines.duckduckgo import Duckduckgo as DuckDuckGoPage
from ddgs.exceptions import DDGSException
from lxml.etree import LxmlError  # type: ignore[import-untyped]

from ....state.errors import ToolFailure
from .protocol import SearchQuery, SearchResult

URL = DuckDuckGoPage.search_url

SECONDS = 15

COUNTRIES = {"gb": "uk"}
"""Countries that it calls otherwise."""

LANGUAGES = {"ja": "jp", "ko": "kr"}
"""Languages that it calls otherwise."""


class DuckDuckGo:
    """Reads the page of results. It refuses those who ask much."""

    name = "duckduckgo"

    def __init__(self, url: str = URL) -> None:
        self._url = url

    async def search(self, query: SearchQuery) -> list[SearchResult]:
        """Pages, best first."""
        return await asyncio.to_thread(self._search, query)

    def _search(self, query: SearchQuery) -> list[SearchResult]:
        country, lang = COUNTRIES.get(query.country, query.country), LANGUAGES.get(query.lang, query.lang)
        page = _Page(timeout=SECONDS)
        page.search_url = self._url
        try:
            found = page.search(query.text, region=f"{country}-{lang}") or []
        except DDGSException as error:
            raise ToolFailure("cannot be reached") from error
        except LxmlError as error:
            raise ToolFailure("does not answer with a page of results: try later") from error
        results = [SearchResult(title=item.title, url=item.href, snippet=item.body) for item in found if item.href]
        return results[: query.count]


class _Page(DuckDuckGoPage):
    """Tells a refusal from a page without results, which the package takes for the same."""

    def request(self, *args: Any, **kwargs: Any) -> Any:
        response = self.http_client.request(*args, **kwargs)
        if response.status_code != 200:
            raise ToolFailure(f"answers {response.status_code}, as it does to those who ask much: try later")
        return response.text
