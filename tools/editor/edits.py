"""The two edits: replacing the one place where a text stands, and inserting lines."""

from __future__ import annotations

from ...state.errors import ToolFailure
from .document import Document, plain

MOST_PLACES = 10
"""Line numbers that a refusal names."""


def replace_once(document: Document, old: str, new: str) -> tuple[Document, int]:
    """Replace the only occurrence of `old`; gives the changed document and the first changed line.

    Raises:
        ToolFailure: `old` is empty, equals `new`, or stands nowhere or more than once.
    """
    old, new = plain(old), plain(new)
    if not old:
        raise ToolFailure("`old_str` is empty; give the text to replace, or use insert.")
    if old == new:
        raise ToolFailure("`old_str` and `new_str` are the same; nothing would change.")
    places = _places(document.text, old)
    if len(places) > 1:
        lines = _listed([document.line_at(place) for place in places])
        raise ToolFailure(
            f"`old_str` stands {len(places)} times, at lines {lines}; add lines around it until it is unique."
        )
    if not places:
        raise ToolFailure(_not_found(document, old))
    [start] = places
    return document.splice(start, start + len(old), new), document.line_at(start)


def insert_after(document: Document, line: int, new: str) -> tuple[Document, int]:
    """Insert `new` as lines of its own after line `line`, 0 for the beginning; gives the first inserted line too.

    Raises:
        ToolFailure: there is no such line.
    """
    count = len(document.lines)
    if not 0 <= line <= count:
        raise ToolFailure(f"`insert_line` is {line}, but the file has {count} lines; give a number from 0 to {count}.")
    new = plain(new).removesuffix("\n")
    start = document.offset_of(line + 1)
    if line == count and document.text and not document.text.endswith("\n"):
        return document.splice(start, start, "\n" + new), line + 1
    return document.splice(start, start, new + "\n"), line + 1


def _places(text: str, old: str) -> list[int]:
    places, place = [], text.find(old)
    while place >= 0:
        places.append(place)
        # Overlapping occurrences count: "aa" is not unique in "aaa".
        place = text.find(old, place + 1)
    return places


def _not_found(document: Document, old: str) -> str:
    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")
    alike = [number for number, line in enumerate(document.lines, 1) if wanted and line.strip() == wanted]
    if alike:
        hint = f"lines {_listed(alike)} begin alike, so compare white space and the lines after it"
    else:
        hint = "view the file and copy the text exactly"
    return f"`old_str` stands nowhere in the file; {hint}."


def _listed(numbers: list[int]) -> str:
    shown = ", ".join(map(str, numbers[:MOST_PLACES]))
    return shown if len(numbers) <= MOST_PLACES else f"{shown} and {len(numbers) - MOST_PLACES} more"
