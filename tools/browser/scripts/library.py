"""The scripts that run inside pages, joined from their files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

LIBRARY = ("interactive", "describe", "geometry")
"""Files that the others use."""


@cache
def source(name: str) -> str:
    """Text of one script file."""
    return (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")


@cache
def function(file: str, name: str) -> str:
    """A JavaScript function expression that calls `name` of `file` with the library in scope.

    As Playwright takes it: on a frame its arguments are `(options)`, on an element `(element, options)`. The tracker
    comes first, for documents that were there before it could be installed.
    """
    library = "\n".join(source(part) for part in (*LIBRARY, file))
    return (
        f"(...given) => {{\n{source('track')}\n{library}\n"
        f"return given[0] instanceof Element ? {name}(given[1] ?? {{}}, given[0]) : {name}(given[0] ?? {{}});\n}}"
    )
