"""Brave Search: https://api-dashboard.search.brave.com/api-reference/web/search/get."""

from __future__ import annotations

from typing import Any

from pydantic import SecretStr

from .json_request import request_json, results_of
from .protocol import SearchQuery, SearchResult

URL = "https://api.search.brave.com"

MOST = 20
"""Results of one request."""

COUNTRIES = (
    "ar at au be br ca ch cl cn de dk es fi fr gb gr hk id in it jp kr mx my nl no nz ph pl pt ru sa se tr tw us za"
)
"""Countries that it knows; it refuses others."""

LANGUAGES = {"ja": "jp", "pt": "pt-pt", "zh": "zh-hans"}
"""Languages that it calls otherwise."""


class Brave:
    """A search engine with an index of its own."""

    name = "brave"

    def __init__(self, key: SecretStr, url: str = URL) -> None:
        self._key = key
        self._url = url

    async def search(self, query: SearchQuery) -> list[SearchResult]:
        """Pages, best first."""
        answer = await request_json(
            "GET",
            f"{self._url}/res/v1/web/search",
            params={
                "q": query.text,
                "count": min(query.count, MOST),
                "country": query.country.upper() if query.country in COUNTRIES.split() else "ALL",
                "search_lang": LANGUAGES.get(query.lang, query.lang),
                "text_decorations": "false",
            },
            headers={"X-Subscription-Token": self._key.get_secret_value(), "Accept": "application/json"},
        )
        web: Any = answer.get("web")
        return results_of(web.get("results") if isinstance(web, dict) else None, "url", "description")
