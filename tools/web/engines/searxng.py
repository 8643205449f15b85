"""SearXNG, a metasearch server of one's own: https://docs.searxng.org/dev/search_api.html."""

from __future__ import annotations

from ....state.errors import ToolFailure
from .json_request import request_json, results_of
from .protocol import SearchQuery, SearchResult


class SearxNG:
    """Asks a server whose `search.formats` has `json`."""

    name = "searxng"

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    async def search(self, query: SearchQuery) -> list[SearchResult]:
        """Pages, best first.

        Raises:
            ToolFailure: as for every engine, and where none of the engines behind the server answered.
        """
        locale = f"{query.lang}-{query.country.upper()}"
        params = {"q": query.text, "format": "json", "language": locale}
        answer = await request_json("GET", f"{self._url}/search", params=params)
        results = results_of(answer.get("results"), "url", "content")
        silent = answer.get("unresponsive_engines")
        if not results and isinstance(silent, list) and silent:
            raise ToolFailure(f"its own engines do not answer: {', '.join(map(_reason, silent))}")
        return results[: query.count]


def _reason(engine: object) -> str:
    return " ".join(map(str, engine)) if isinstance(engine, list) else str(engine)
