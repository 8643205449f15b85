"""Which browser to use, without starting anything."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ...state.errors import UsageError
from .settings import BrowserSettings

SYSTEM_PROGRAMS = (
    "google-chrome-stable",
    "google-chrome",
    "chromium",
    "chromium-browser",
    "microsoft-edge-stable",
    "microsoft-edge",
    "brave-browser",
)
"""Names by which system packages install a Chromium."""

APPLICATIONS = (
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge"),
    Path("/snap/bin/chromium"),
)
"""Where Chromium stands when it is not on the path."""

PLAYWRIGHT_PROGRAMS = (
    "chromium-*/chrome-*/chrome",
    "chromium-*/chrome-*/*.app/Contents/MacOS/*",
    "chromium_headless_shell-*/*/headless_shell",
    "chromium_headless_shell-*/*/chrome-headless-shell",
)
"""Programs below the folder where `playwright install` puts browsers; the last two have no window."""

ADVICE = "run `playwright install chromium`, or install Chrome, Chromium or Edge, or set `executable` or `cdp_url`"


@dataclass(frozen=True)
class BrowserSource:
    """Where the browser comes from."""

    kind: Literal["setting", "playwright", "system", "cdp", "websocket"]
    """Who named it."""

    location: str
    """Path of a program, or the URL of a remote browser."""

    @property
    def remote(self) -> bool:
        """Whether it already runs and is not ours to stop."""
        return self.kind in ("cdp", "websocket")


def find_browser(settings: BrowserSettings) -> BrowserSource:
    """The browser that `settings` name; else Playwright's own; else the system's.

    Raises:
        UsageError: there is none, or the one that the settings name is not there.
    """
    if settings.cdp_url:
        return BrowserSource("cdp", settings.cdp_url)
    if settings.wss_url:
        return BrowserSource("websocket", settings.wss_url)
    if settings.executable:
        return BrowserSource("setting", _checked(settings.executable))
    if own := next(_playwright_programs(settings.headless), None):
        return BrowserSource("playwright", str(own))
    if system := next(_system_programs(), None):
        return BrowserSource("system", str(system))
    raise UsageError(f"no browser found: {ADVICE}")


def _checked(program: Path) -> str:
    found = shutil.which(program.expanduser())
    if found is None:
        raise UsageError(f"the browser {program} is not there or cannot be run: {ADVICE}")
    return str(found)


def _playwright_programs(headless: bool) -> Iterator[Path]:
    patterns = PLAYWRIGHT_PROGRAMS if headless else PLAYWRIGHT_PROGRAMS[:2]
    for pattern in patterns:
        programs = (path for path in _playwright_folder().glob(pattern) if os.access(path, os.X_OK))
        yield from sorted(programs, key=_revision, reverse=True)


def _playwright_folder() -> Path:
    if folder := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        return Path(folder)
    caches = Path.home() / "Library" / "Caches" if sys.platform == "darwin" else _linux_caches()
    return caches / "ms-playwright"


def _linux_caches() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _revision(program: Path) -> int:
    folder = next(part for part in program.parts if part.startswith(("chromium-", "chromium_headless_shell-")))
    number = folder.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


def _system_programs() -> Iterator[Path]:
    for name in SYSTEM_PROGRAMS:
        if found := shutil.which(name):
            yield Path(found)
    yield from (path for path in APPLICATIONS if os.access(path, os.X_OK))
