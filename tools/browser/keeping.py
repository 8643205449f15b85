"""What a browser leaves behind while it runs: what it can be opened from again, and pictures for people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from ...state.errors import CheckpointError, ToolFailure
from ..run_services import RunServices
from ..workspace import PRIVATE_FOLDER, Workspace
from .saving import SavedBrowser
from .session import BrowserSession

SAVE_SECONDS = 5.0
"""Bound of saving: a page that hangs does not hold up the run, and what was saved before stays."""

PICTURE_SECONDS = 5.0
"""Bound of a picture for people."""

PICTURES = "screenshots"
"""Folder, inside the workspace's private one, of the pictures."""


async def keep(session: BrowserSession, services: RunServices) -> dict[str, Any] | None:
    """Save the browser as payloads of the run; their references, or None where there is no place or it cannot be saved.

    Tabs and storage are payloads of their own, since tabs change with every step and storage seldom does.
    """
    if services.put is None:
        return None
    try:
        async with asyncio.timeout(SAVE_SECONDS):
            saved = await session.save()
    except (ToolFailure, TimeoutError):
        # A page that hangs or a browser that died: the last action's own message tells of it.
        return None
    return {part: await services.put(_encoded(content)) for part, content in saved.items()}


async def kept(services: RunServices) -> SavedBrowser | None:
    """What the run saved of its browser last; None where there is none, or its payloads are gone."""
    if services.get is None or services.saved is None:
        return None
    try:
        return await _loaded(services.saved, services)
    except CheckpointError:
        # The thread was moved or pruned without its payloads: the model is told of a browser that starts anew.
        return SavedBrowser(tabs=[], storage={})


async def _loaded(saved: Mapping[str, Any], services: RunServices) -> SavedBrowser:
    assert services.get is not None
    tabs, storage = [json.loads(await services.get(saved[part])) for part in ("tabs", "storage")]
    return SavedBrowser(tabs=tabs, storage=storage)


def _encoded(content: object) -> bytes:
    # In one order, so that equal contents are one payload.
    return json.dumps(content, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")


async def keep_picture(session: BrowserSession) -> str | None:
    """Keep a picture of the viewport in the workspace; its path there, or None where the page cannot be drawn."""
    try:
        async with asyncio.timeout(PICTURE_SECONDS):
            picture = await session.screenshot()
    except (ToolFailure, TimeoutError):
        # A crashed or hanging page has no picture; what the action says does not depend on it.
        return None
    name = f"{sha256(picture).hexdigest()[:16]}.jpg"
    await asyncio.to_thread(_write, session.workspace, name, picture)
    return f"{PRIVATE_FOLDER}/{PICTURES}/{name}"


def _write(workspace: Workspace, name: str, picture: bytes) -> None:
    workspace.private(PICTURES, name).write_bytes(picture)
