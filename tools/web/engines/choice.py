"""Which engines are asked."""

from __future__ import annotations

import os
from collections.abc import Callable

from pydantic import SecretStr

from ....state.errors import UsageError
from ..settings import EngineName, SearchSettings
from .brave import Brave
from .duckduckgo import DuckDuckGo
from .google import Google
from .protocol import SearchEngine
from .searxng import SearxNG
from .tavily import Tavily

ORDER: tuple[EngineName, ...] = ("tavily", "brave", "google", "searxng", "duckduckgo")
"""Order where the settings name none; those without a key or an address are left out."""

NEEDS = {
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_SEARCH_API_KEY",
    "google": "GOOGLE_API_KEY and GOOGLE_CSE_ID",
    "searxng": "SEARX_HOST",
}
"""Environment variables of each engine that needs some."""


def choose_engines(settings: SearchSettings) -> list[SearchEngine]:
    """The engines of the settings, in order; keys that they lack come from the environment.

    Raises:
        UsageError: an engine that the settings name has no key or no address.
    """
    engines = {name: _MAKERS[name](settings) for name in settings.engines or ORDER}
    for name in settings.engines:
        if engines[name] is None:
            raise UsageError(f"The search engine {name} is not set up; set {NEEDS[name]}, or its fields in [search].")
    return [engine for engine in engines.values() if engine is not None]


def _key(own: SecretStr | None, variable: str) -> SecretStr | None:
    return own or (SecretStr(value) if (value := os.environ.get(variable)) else None)


def _tavily(settings: SearchSettings) -> Tavily | None:
    key = _key(settings.tavily_api_key, "TAVILY_API_KEY")
    return Tavily(key) if key else None


def _brave(settings: SearchSettings) -> Brave | None:
    key = _key(settings.brave_api_key, "BRAVE_SEARCH_API_KEY")
    return Brave(key) if key else None


def _google(settings: SearchSettings) -> Google | None:
    key = _key(settings.google_api_key, "GOOGLE_API_KEY")
    engine_id = settings.google_engine_id or os.environ.get("GOOGLE_CSE_ID")
    return Google(key, engine_id) if key and engine_id else None


def _searxng(settings: SearchSettings) -> SearxNG | None:
    url = settings.searxng_url or os.environ.get("SEARX_HOST")
    return SearxNG(url) if url else None


def _duckduckgo(settings: SearchSettings) -> DuckDuckGo:
    return DuckDuckGo()


_MAKERS: dict[EngineName, Callable[[SearchSettings], SearchEngine | None]] = {
    "brave": _brave,
    "duckduckgo": _duckduckgo,
    "google": _google,
    "searxng": _searxng,
    "tavily": _tavily,
}
