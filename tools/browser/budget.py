"""Lines that fit into a number of tokens, the most useful first."""

from __future__ import annotations

from collections.abc import Sequence

from .rendering import Line

ASCII_PER_TOKEN = 3.5
"""Characters of a token in Latin text and markup, a cautious estimate over common tokenizers."""

LONGEST_TEXT = 1200
"""Characters of a line without an element, once lines must go."""

GAP = "…"


def estimate_tokens(text: str) -> int:
    """Tokens of a text, roughly: 3.5 ASCII characters or one other character each."""
    plain = sum(character.isascii() for character in text)
    return int(plain / ASCII_PER_TOKEN) + len(text) - plain + 1


def fit(lines: Sequence[Line], tokens: int) -> tuple[list[str], int]:
    """The lines that fit, in their order, with `…` for what is left out; and how many elements that is.

    What shows goes before what is in the margin, and elements before text.
    """
    texts = [line.text for line in lines]
    if estimate_tokens("\n".join(texts)) <= tokens:
        return texts, 0
    texts = [text if line.interactive else _cut(text) for line, text in zip(lines, texts, strict=True)]
    kept = _choose(lines, texts, tokens)
    lost = sum(line.interactive for place, line in enumerate(lines) if place not in kept)
    return _with_gaps(texts, kept), lost


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + GAP


def _choose(lines: Sequence[Line], texts: Sequence[str], tokens: int) -> set[int]:
    kept: set[int] = set()
    for place in sorted(range(len(lines)), key=lambda place: (lines[place].zone, not lines[place].interactive, place)):
        tokens -= estimate_tokens(texts[place])
        if tokens < 0:
            break
        kept.add(place)
    return kept


def _with_gaps(texts: Sequence[str], kept: set[int]) -> list[str]:
    shown: list[str] = []
    for place, text in enumerate(texts):
        if place in kept:
            shown.append(text)
        elif not shown or shown[-1] != GAP:
            shown.append(GAP)
    return shown
