"""Long outputs: kept with the thread as payloads, by content, and in the workspace as copies to work with."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Collection, Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from ..state.errors import ToolFailure
from .run_services import RunServices
from .workspace import PRIVATE_FOLDER, Workspace

FOLDER = "outputs"
"""Folder, inside the workspace's private one, of the copies."""

PLACE = f"{PRIVATE_FOLDER}/{FOLDER}"
"""The same, relative to the workspace."""

DIGITS = 16
"""Digits, of the hash of the content, in the name of a copy."""

NAMES = re.compile(rf"{re.escape(PLACE)}/[\w-]+-[0-9a-f]{{{DIGITS}}}\.log(?!\w)")
"""Copies that a text names, relative to the workspace."""

SCHEME = "sha256:"
"""How the reference of a payload begins; the hash of its content follows."""


class KeptOutput(NamedTuple):
    """Where the whole of an output is."""

    file: str | None
    """Its copy, relative to the workspace; None where it could not be written."""

    blob: str | None
    """Reference of the payload; None where the run has no place for any."""


async def keep_output(text: str, tool: str, workspace: Workspace, services: RunServices) -> KeptOutput:
    """Keep the whole of an output with the thread, and a copy in the workspace, for this user alone.

    Both are without secrets where the run has a place for payloads, and equal outputs are kept once.

    Raises:
        CheckpointError: the payload cannot be stored.
    """
    content, blob = text.encode("utf-8", "backslashreplace"), None
    if services.put is not None and services.get is not None:
        blob = await services.put(content.decode())
        content = await services.get(blob)
    digest = blob.removeprefix(SCHEME) if blob else sha256(content).hexdigest()
    name = f"{re.sub(r'[^a-z0-9_-]', '_', tool.lower()) or 'tool'}-{digest[:DIGITS]}.log"
    written = await asyncio.to_thread(_write, workspace, name, content)
    return KeptOutput(f"{PLACE}/{name}" if written else None, blob)


def missing_copies(files: Iterable[str], workspace: Workspace) -> list[str]:
    """Those of the copies that are not in the workspace."""
    return [file for file in files if not (workspace.root / file).exists()]


async def restore_copies(
    files: Iterable[str], workspace: Workspace, references: Collection[str], services: RunServices
) -> None:
    """Write copies again, from the payloads of the thread; what it has no payload of stays missing.

    Raises:
        CheckpointError: a payload cannot be read.
    """
    assert services.get is not None
    payloads = {reference.removeprefix(SCHEME)[:DIGITS]: reference for reference in references}
    for file in files:
        if reference := payloads.get(digits_of(file)):
            await asyncio.to_thread(_write, workspace, Path(file).name, await services.get(reference))


def remove_copies(workspace: Path, references: Collection[str]) -> list[Path]:
    """Remove the copies of these payloads from a workspace, and say which there were."""
    folder = workspace / PLACE
    if not references or not folder.is_dir() or not folder.resolve().is_relative_to(workspace.resolve()):
        return []
    digits = {reference.removeprefix(SCHEME)[:DIGITS] for reference in references}
    found = [file for file in folder.iterdir() if digits_of(file.name) in digits]
    for file in found:
        file.unlink(missing_ok=True)
    return found


def digits_of(name: str) -> str:
    """The digits of the hash in the name of a copy."""
    return Path(name).stem.rpartition("-")[2]


def _write(workspace: Workspace, name: str, content: bytes) -> bool:
    # Whatever is wrong with the folder, what the command did is done: the model is to hear of that.
    try:
        file = workspace.private(FOLDER, name)
        temporary = file.with_name(f".{uuid4().hex}.tmp")
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    except (OSError, ToolFailure):
        return False
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
        temporary.replace(file)
    except OSError:
        temporary.unlink(missing_ok=True)
        return False
    return True
