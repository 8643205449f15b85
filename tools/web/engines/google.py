"""Google's custom search: https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list."""

from __future__ import annotations

from pydantic import SecretStr

from .json_request import request_json, results_of
from .protocol import SearchQuery, SearchResult

URL = "https://www.googleapis.com"

PAGE = 10
"""Results of one request."""


class Google:
    """Searches with a programmable search engine, which needs an id beside the key."""

    name = "google"

    def __init__(self, key: SecretStr, engine_id: str, url: str = URL) -> None:
        self._key = key
        self._engine_id = engine_id
        self._url = url

    async def search(self, query: SearchQuery) -> list[SearchResult]:
        """Pages, best first; as many requests as the count needs."""
        found: list[SearchResult] = []
        while len(found) < query.count:
            wanted = min(query.count - len(found), PAGE)
            page = await self._page(query, len(found) + 1, wanted)
            found += page
            if len(page) < wanted:
                break
        return found

    async def _page(self, query: SearchQuery, start: int, count: int) -> list[SearchResult]:
        answer = await request_json(
            "GET",
            f"{self._url}/customsearch/v1",
            params={
                "q": query.text,
                "cx": self._engine_id,
                "num": count,
                "start": start,
                "hl": query.lang,
                "gl": query.country,
            },
            # In a header, since addresses land in logs.
            headers={"X-Goog-Api-Key": self._key.get_secret_value()},
        )
        return results_of(answer.get("items"), "link", "snippet")
