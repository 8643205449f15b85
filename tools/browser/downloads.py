"""Downloads: into the workspace, under a safe name, told of in the result."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from playwright.async_api import Download
from playwright.async_api import Error as PlaywrightError

from ...state.errors import ToolFailure
from ..workspace import Workspace
from .notices import Notices

FOLDER = "downloads"
"""Folder of downloads in the workspace."""

LONGEST_NAME = 120


class Downloads:
    """Saves what the pages of a context download."""

    def __init__(self, workspace: Workspace, notices: Notices) -> None:
        self._workspace = workspace
        self._notices = notices
        self._running: dict[asyncio.Task[None], str] = {}

    def start(self, download: Download) -> None:
        """Save a download in the background."""
        task = asyncio.get_running_loop().create_task(self._save(download))
        self._running[task] = download.suggested_filename
        task.add_done_callback(lambda done: self._running.pop(done, None))

    async def wait(self, seconds: float) -> None:
        """Wait until all are saved; tell of those that take longer than `seconds`."""
        if not self._running:
            return
        await asyncio.wait(list(self._running), timeout=seconds)
        for name in self._running.values():
            self._notices.add("download", f"the download of {name} still runs: wait, then take the state")

    async def close(self) -> None:
        """Give up what still runs."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def write(self, name: str, content: bytes) -> str:
        """Keep the bytes under a free name; the path, relative to the workspace."""
        path = self._place(name)
        path.write_bytes(content)
        return self._workspace.name(path)

    async def _save(self, download: Download) -> None:
        name = download.suggested_filename
        try:
            path = await asyncio.to_thread(self._place, name)
            await download.save_as(path)
            size = path.stat().st_size
        except (PlaywrightError, OSError, ToolFailure) as error:
            reason = str(error).partition("\n")[0]
            self._notices.add("download", f"the download of {name} failed: {reason}")
        else:
            kept = self._workspace.name(path)
            self._notices.add("download", f"downloaded {kept} ({size} bytes) into the workspace", path=kept)

    def _place(self, suggested: str) -> Path:
        folder = self._workspace.resolve(FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        name = safe_name(suggested)
        path, number = folder / name, 1
        while path.exists() or path.is_symlink():
            path, number = folder / f"{Path(name).stem}-{number}{Path(name).suffix}", number + 1
        path.touch()
        return path


def safe_name(suggested: str) -> str:
    """A file name without folders, control characters or a leading dot, bounded in length."""
    name = re.sub(r"[\x00-\x1f\x7f<>:\"|?*]", "_", suggested.replace("\\", "/").rpartition("/")[2]).strip(" .")
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    room = LONGEST_NAME - len(suffix) - 1
    return f"{stem[:room]}{dot}{suffix[:20]}" or "download"
