"""Files of a workspace on another machine, brought here to be looked at and edited, and taken back.

The history of edits, and outputs that were too long to show, are in the private folder on this machine alone.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from pathlib import Path

from ...state.errors import ToolFailure
from ..sandbox.local import LocalSandbox
from ..workspace import PRIVATE_FOLDER, Workspace
from .display import MOST_ENTRIES, tree
from .history import write_atomically

ENTRIES = f"find . -mindepth 1 -maxdepth 2 ! -path '*/.*' -printf '%y %P\\0' | head -z -n {MOST_ENTRIES + 1}"
"""Lists a folder two levels deep, without hidden entries: kind and path of each."""


async def fetch(sandbox: LocalSandbox, workspace: Workspace, path: str) -> str | None:
    """Make the file here what it is there, or no file where it is none there. The view of it if it is a folder.

    Raises:
        ToolFailure: the path leads out of the workspace, or the machine is out of reach.
    """
    file = workspace.resolve(path)
    name = workspace.name(file)
    if name.split("/")[0] == PRIVATE_FOLDER:
        return None
    listing = await sandbox.execute(f"cd -- {shlex.quote(name)} 2>/dev/null && echo folder && {ENTRIES}")
    if listing.output.startswith("folder\n"):
        return await asyncio.to_thread(_view, listing.output.removeprefix("folder\n"))
    [found] = await sandbox.download_files([name])
    await asyncio.to_thread(_keep, file, found.content)
    return None


async def push(sandbox: LocalSandbox, workspace: Workspace, path: str) -> None:
    """Make the file there what it is here, or remove it there.

    Raises:
        ToolFailure: it cannot be written there.
    """
    file = workspace.resolve(path)
    name = workspace.name(file)
    if not await asyncio.to_thread(file.exists):
        await sandbox.execute(f"rm -f -- {shlex.quote(name)}")
        return
    [written] = await sandbox.upload_files([(name, await asyncio.to_thread(file.read_bytes))])
    if written.error:
        raise ToolFailure(f"{name} cannot be written: {written.error}")


def _keep(file: Path, content: bytes | None) -> None:
    if file.is_dir():
        shutil.rmtree(file)  # from an earlier look: now it is a file there, or nothing
    if content is None:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)


def _view(listing: str) -> str:
    """The view of a folder with these entries."""
    with tempfile.TemporaryDirectory() as folder:
        for entry in sorted(filter(None, listing.split("\\x00"))):
            kind, _, name = entry.partition(" ")
            place = Path(folder, name)
            place.parent.mkdir(exist_ok=True)
            place.mkdir(exist_ok=True) if kind == "d" else place.touch()
        return tree(Path(folder))
