"""Tavily: https://docs.tavily.com/api-reference/endpoint/search."""

from __future__ import annotations

from pydantic import SecretStr

from .json_request import request_json, results_of
from .protocol import SearchQuery, SearchResult

URL = "https://api.tavily.com"

MOST = 20
"""Results of one request."""


class Tavily:
    """Searches for programs. It takes no language, and knows countries by their English names only."""

    name = "tavily"

    def __init__(self, key: SecretStr, url: str = URL) -> None:
        self._key = key
        self._url = url

    async def search(self, query: SearchQuery) -> list[SearchResult]:
        """Pages, best first."""
        answer = await request_json(
            "POST",
            f"{self._url}/search",
            body={"query": query.text, "max_results": min(query.count, MOST)},
            headers={"Authorization": f"Bearer {self._key.get_secret_value()}"},
        )
        return results_of(answer.get("results"), "url", "content")
