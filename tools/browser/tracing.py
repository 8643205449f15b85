"""Playwright traces: what a browser did, for `playwright show-trace`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

from playwright.async_api import BrowserContext
from playwright.async_api import Error as PlaywrightError

from ..workspace import Workspace

FOLDER = "traces"
"""Folder, inside the workspace's private one, of the traces."""


@asynccontextmanager
async def traced(context: BrowserContext, workspace: Workspace) -> AsyncIterator[None]:
    """Record what the context does into one file of the workspace, which is written at exit."""
    name = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}.zip"
    file = await asyncio.to_thread(workspace.private, FOLDER, name)
    await context.tracing.start(screenshots=True, snapshots=True)
    try:
        yield
    finally:
        # A browser that died takes its trace with it.
        with suppress(PlaywrightError):
            await context.tracing.stop(path=file)
