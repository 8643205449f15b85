"""What a LangGraph server runs beside the graphs: it closes what tools hold open when the server stops.

`langgraph.json` names `app` under `http`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette

from ..tools.resources import resources


@asynccontextmanager
async def close_resources(app: Starlette) -> AsyncIterator[None]:
    """Close at shutdown every shell, browser and sandbox that the runs of this server opened."""
    try:
        yield
    finally:
        await resources().close_all()


app = Starlette(lifespan=close_resources)
