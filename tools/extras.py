"""Which tools need packages beside clew's own, and whether these are there."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "browser_use": "browser",
    "data_visualization": "charts",
    "visualization_preparation": "charts",
    "web_fetch": "web",
    "web_search": "web",
}
"""Extra of the package that a built-in tool needs."""

PACKAGES = {
    "browser": ("bs4", "markdownify", "playwright"),
    "charts": ("altair", "pandas", "vl_convert"),
    "web": ("bs4", "ddgs", "httpx", "lxml", "markdownify", "pypdf"),
}
"""Packages of each extra, by the names under which they are imported."""


def missing_packages(tool: str) -> list[str]:
    """Packages that a built-in tool needs and that are not installed. Imports none of them."""
    return [package for package in PACKAGES.get(EXTRAS.get(tool, ""), ()) if find_spec(package) is None]


def is_installed(tool: str) -> bool:
    """Whether all packages that a tool needs are there; those of a plug-in are its own affair."""
    return not missing_packages(tool)


def installing(tool: str) -> str:
    """What to type to get the packages of a built-in tool."""
    return f"pip install 'clew[{EXTRAS[tool]}]'"
