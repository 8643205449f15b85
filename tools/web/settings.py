"""How the web is searched and read, as the settings have it."""

from ...state.web import EngineName, FetchSettings, SearchSettings

__all__ = ["EngineName", "FetchSettings", "SearchSettings"]
