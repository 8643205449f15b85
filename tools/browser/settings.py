"""How a browser is found, started and bounded, as the settings have it."""

from ...state.browser import BrowserSettings, Proxy, Viewport

__all__ = ["BrowserSettings", "Proxy", "Viewport"]
