"""What a person is told once for each home: a marker file there remembers it."""

from __future__ import annotations

from pathlib import Path

from ..state.sandbox import Backend

UNCONTAINED = "told-uncontained"
"""Marker of having said that nothing contains what runs."""


def first_time(home: Path, marker: str) -> bool:
    """Whether something is to be told, because the home has no such marker; it has one afterwards. Blocking."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        (home / marker).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:
        # Better said twice than not at all.
        return True
    return True


def uncontained_notice(home: Path, sandbox: Backend | None) -> str | None:
    """What a person is told, the first time, where commands should be contained and nothing here can. Blocking."""
    if sandbox is None or sandbox.contained or not sandbox.remedy or not first_time(home, UNCONTAINED):
        return None
    return f"nothing contains commands here, so they run with all of your rights: {sandbox.remedy} (said once)"
