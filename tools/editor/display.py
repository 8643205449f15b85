"""How files and folders are shown to a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MOST_CHARACTERS = 16_000
"""Characters of a view (as in the seed's editor)."""

SNIPPET_LINES = 4
"""Lines shown before and after an edit (as in the seed's editor)."""

MOST_ENTRIES = 500
"""Entries of a folder view."""


def numbered(lines: Sequence[str], first: int, last: int) -> str:
    """Lines `first` to `last`, from 1, each with its number and a tab; a long view is cut after a whole line."""
    shown: list[str] = []
    room = MOST_CHARACTERS
    for number in range(first, last + 1):
        line = f"{number:6}\t{lines[number - 1]}"
        if len(line) > room and shown:
            return "\n".join(shown) + f"\n[cut after line {number - 1} of {len(lines)}; view the rest with view_range]"
        if len(line) > room:
            line = f"{line[:room]}[{len(line) - room} characters of this line are left out]"
        shown.append(line)
        room -= len(line)
    return "\n".join(shown)


def snippet(lines: Sequence[str], first: int, count: int) -> str:
    """The `count` lines from `first`, and some around them."""
    return numbered(lines, max(1, first - SNIPPET_LINES), min(len(lines), first + count - 1 + SNIPPET_LINES))


def tree(folder: Path) -> str:
    """Entries of a folder, two levels deep, without hidden ones; folders end with a slash."""
    entries = [line for child in _visible(folder) for line in (_label(child, folder), *_below(child, folder))]
    more = f"\n[{len(entries) - MOST_ENTRIES} more entries are left out]" if len(entries) > MOST_ENTRIES else ""
    return "\n".join(entries[:MOST_ENTRIES]) + more if entries else "[the folder is empty]"


def _below(child: Path, root: Path) -> list[str]:
    if child.is_symlink() or not child.is_dir():
        return []
    return [_label(grandchild, root) for grandchild in _visible(child)]


def _visible(folder: Path) -> list[Path]:
    try:
        return sorted(child for child in folder.iterdir() if not child.name.startswith("."))
    except PermissionError:
        return []


def _label(path: Path, root: Path) -> str:
    name = str(path.relative_to(root)).encode(errors="surrogateescape").decode(errors="backslashreplace")
    return f"{name}/" if path.is_dir() and not path.is_symlink() else name
