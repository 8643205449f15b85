"""The saver that `langgraph.json` names: Studio's threads are kept as those of the command line are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..state.secrets import known_secrets, secret_settings
from ..state.settings import load_settings
from .durable import DurableSaver
from .open import open_saver


@asynccontextmanager
async def saver() -> AsyncIterator[DurableSaver]:
    """The saver of the settings' database, which works in a thread of its own."""
    settings = await asyncio.to_thread(load_settings)
    secrets = [*known_secrets(), *secret_settings(settings)]
    full_sync, patience = settings.db_sync == "full", settings.db_wait
    opening = open_saver(settings.database, secrets=secrets, full_sync=full_sync, in_thread=True, patience=patience)
    async with opening as opened:
        yield opened
