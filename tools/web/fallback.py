"""Asking one engine after the other until one has results."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ...state.errors import ToolFailure
from .engines.protocol import SearchEngine, SearchQuery, SearchResult

NOTHING = "found nothing"
"""Reason of an engine that answered, without results."""


@dataclass(frozen=True)
class Found:
    """Results, and how they came."""

    engine: str
    results: list[SearchResult]
    reasons: dict[str, str]
    """Why each engine that was asked before has none."""


async def search_in_turn(engines: Sequence[SearchEngine], query: SearchQuery, seconds: float) -> Found:
    """Results of the first engine that has some; each has so many seconds.

    Raises:
        ToolFailure: none has; the message gives the reason of each.
    """
    reasons: dict[str, str] = {}
    for engine in engines:
        try:
            async with asyncio.timeout(seconds):
                results = await engine.search(query)
        except ToolFailure as failure:
            reasons[engine.name] = str(failure)
        except TimeoutError:
            reasons[engine.name] = f"does not answer within {seconds:g} seconds"
        else:
            if results:
                return Found(engine.name, results, reasons)
            reasons[engine.name] = NOTHING
    told = "; ".join(f"{name} {reason}" for name, reason in reasons.items())
    advice = "use other words" if NOTHING in reasons.values() else "try later, or open a page that you know"
    raise ToolFailure(f"no search engine has results for {query.text!r} ({told}): {advice}")
