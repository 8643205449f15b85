"""What a run made: the files of its workspace that are newer than its thread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

LARGEST_FOLDER = 20_000
"""Files of a workspace that are looked at, in the order of the names."""


def made_files(workspace: Path, since: datetime) -> list[Path]:
    """Files made or changed since a moment, relative to the workspace and sorted; hidden folders are left out."""
    moment = since.timestamp()
    return sorted(path.relative_to(workspace) for path in _files(workspace) if _changed(path) >= moment)


def _files(workspace: Path) -> Iterator[Path]:
    seen = 0
    for folder, folders, names in os.walk(workspace):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            seen += 1
            if seen > LARGEST_FOLDER:
                return
            yield Path(folder, name)


def _changed(path: Path) -> float:
    # The change time, which copying and unpacking do not set back.
    try:
        return path.lstat().st_ctime
    except FileNotFoundError:
        return 0.0
