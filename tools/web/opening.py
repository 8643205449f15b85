"""Opens what the web tools work with. Its packages are slow to import, and most runs ask the web nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from .guard import Guard
from .settings import FetchSettings, SearchSettings

if TYPE_CHECKING:
    from .engines.protocol import SearchEngine
    from .pages import PageReader


async def open_reader(settings: FetchSettings, guard: Guard) -> PageReader:
    """A reader of pages behind the guard."""

    def open() -> PageReader:
        from .pages import PageReader

        return PageReader(settings, guard)

    return await asyncio.to_thread(open)


async def open_engines(settings: SearchSettings) -> list[SearchEngine]:
    """The engines of the settings, in order.

    Raises:
        UsageError: an engine that the settings name has no key or no address.
    """

    def open() -> list[SearchEngine]:
        from .engines.choice import choose_engines

        return choose_engines(settings)

    return await asyncio.to_thread(open)
