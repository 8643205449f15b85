"""How the web is searched and read, and where tools may connect to: `[search]`, `[fetch]` and `[network]`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, SecretStr

EngineName = Literal["brave", "duckduckgo", "google", "searxng", "tavily"]


class NetworkSettings(BaseModel):
    """Where tools that take an address may connect to: the `[network]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    allowed_hosts: tuple[str, ...] = ()
    """Hosts of private networks that may be reached nevertheless, by name or address, such as `localhost`."""


class SearchSettings(BaseModel):
    """Settings of `web_search`: the `[search]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    engines: tuple[EngineName, ...] = ()
    """Engines to ask, in order, until one gives results; empty for those with a key or an address, then DuckDuckGo."""

    tavily_api_key: SecretStr | None = None
    """Key of Tavily; None takes TAVILY_API_KEY."""

    brave_api_key: SecretStr | None = None
    """Key of Brave Search; None takes BRAVE_SEARCH_API_KEY."""

    google_api_key: SecretStr | None = None
    """Key of Google's custom search; None takes GOOGLE_API_KEY."""

    google_engine_id: str | None = None
    """Id of the programmable search engine at Google; None takes GOOGLE_CSE_ID."""

    searxng_url: str | None = None
    """Address of a SearXNG server whose settings allow the format json; None takes SEARX_HOST."""

    lang: str = "en"
    """Language of results where a call names none: two letters of ISO 639-1."""

    country: str = "us"
    """Country of results where a call names none: two letters of ISO 3166-1."""

    seconds: PositiveFloat = 15.0
    """Bound of one engine's answer; then the next is asked."""

    content_characters: PositiveInt = 4000
    """Characters of each page that `fetch_content` gives."""

    cache_seconds: NonNegativeFloat = 900.0
    """Seconds for which the results of a query are given again."""


class FetchSettings(BaseModel):
    """Settings of `web_fetch`: the `[fetch]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    respect_robots: bool = True
    """Whether a site's robots.txt is kept to."""

    seconds: PositiveFloat = 30.0
    """Bound of one page, with its redirects and its robots.txt."""

    max_bytes: PositiveInt = 5_000_000
    """Bytes of one page, after decompression, that are read."""

    max_redirects: NonNegativeInt = 5
    """Redirects that are followed."""

    characters: PositiveInt = 20_000
    """Characters of a page that one call gives."""

    cache_seconds: NonNegativeFloat = 300.0
    """Seconds for which a page is given again without asking its server."""
