"""The environment of commands: what programs need to work, and no secret."""

from __future__ import annotations

import os
from collections.abc import Mapping

INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR")
"""Variables that a command gets from ours, beside those that begin with `LC_`. Keys and tokens are not among them."""

FIXED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
}
"""Variables that keep programs from paging, colouring and asking where nobody sees it."""


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment of a command: the inherited variables, the fixed ones, then `extra`."""
    inherited = {name: value for name, value in os.environ.items() if name in INHERITED or name.startswith("LC_")}
    return {"LANG": "C.UTF-8", **inherited, **FIXED, **(extra or {})}
