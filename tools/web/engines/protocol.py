"""What a search engine is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from typing_extensions import TypedDict


@dataclass(frozen=True)
class SearchQuery:
    """What is looked for."""

    text: str
    count: int
    """Results that are wanted; an engine may give fewer."""

    lang: str
    """Two letters of ISO 639-1, small."""

    country: str
    """Two letters of ISO 3166-1, small."""


class SearchResult(TypedDict):
    """One page that an engine found. Plain JSON."""

    title: str
    url: str
    snippet: str
    """What the engine shows of the page; empty where it shows nothing."""


class SearchEngine(Protocol):
    """Finds pages."""

    @property
    def name(self) -> str:
        """Name as the settings have it."""

    async def search(self, query: SearchQuery) -> list[SearchResult]:
        """Pages, best first; none where nothing was found.

        Raises:
            ToolFailure: the engine cannot be reached, refuses, or does not answer as it should.
        """
