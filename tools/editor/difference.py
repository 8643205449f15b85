"""The difference between two texts of a file, as `diff -u` writes it."""

from __future__ import annotations

from difflib import unified_diff

NO_NEWLINE = "\\ No newline at end of file"


def difference(name: str, before: str | None, after: str) -> str:
    """The unified difference of a file; `before` is None for one that is not there yet. Empty where they are equal."""
    source = "/dev/null" if before is None else name
    lines = unified_diff(_lines(before or ""), _lines(after), source, name, lineterm="")
    return "\n".join(part for line in lines for part in _shown(line))


def _lines(text: str) -> list[str]:
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def _shown(line: str) -> list[str]:
    if line.endswith("\n"):
        return [line.removesuffix("\n")]
    return [line] if line.startswith(("---", "+++", "@@")) else [line, NO_NEWLINE]
