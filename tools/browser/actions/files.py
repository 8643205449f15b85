"""Files that pages are given."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ....state.errors import ToolFailure
from ..failures import failures_of
from ..scripts.library import function
from ..session import BrowserSession
from .pointing import click


async def upload_file(session: BrowserSession, index: int, path: str) -> str:
    """Give a file of the workspace to a file field, or to the button that asks for one."""
    file = await asyncio.to_thread(_file, session, path)
    handle = await session.element(index)
    with failures_of(f"{path} could not be given to [{index}]"):
        field = await handle.evaluate(function("field", "field"))
        if field["type"] == "file":
            await handle.set_input_files(file)
        else:
            if session.chooser is None:
                await _ask(session, index)
            chooser, session.chooser = session.chooser, None
            if chooser is None:
                raise ToolFailure(f"[{index}] asks for no file: choose the file field or its button")
            await chooser.set_files(file)
    return f"gave {session.workspace.name(file)} to [{index}]"


async def _ask(session: BrowserSession, index: int) -> None:
    await click(session, await session.element(index), f"[{index}]")
    await session.settle()
    session.notices.drop("chooser")


def _file(session: BrowserSession, path: str) -> Path:
    file = session.workspace.resolve(path)
    if not file.is_file():
        raise ToolFailure(f"there is no file {path} in the workspace: create it first, or give another path")
    return file
