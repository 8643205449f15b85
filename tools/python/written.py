"""Which files of a workspace were written since a moment."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from ..workspace import PRIVATE_FOLDER

SKIPPED = frozenset({PRIVATE_FOLDER, ".git", "__pycache__", "node_modules", ".venv"})
"""Folders that are not looked into."""

MOST_ENTRIES = 20_000
"""Entries of the workspace that are looked at."""

SHOWN = 20
"""Files that are named."""

REALTIME_COARSE = 5
"""Linux's clock of file times (`linux/time.h`), which Python does not name. It lags behind `time.time()` by a tick, so
that a file written at once would seem older than the call that wrote it."""


def file_clock() -> int:
    """The moment, in nanoseconds, on the clock that the kernel stamps files with."""
    return time.clock_gettime_ns(REALTIME_COARSE) if sys.platform == "linux" else time.time_ns()


def files_written(root: Path, since: int) -> list[str]:
    """Paths, relative to `root` and sorted, of the files that were created or changed at or after `since`. Blocking."""
    written = []
    for entry, _ in zip(_entries(str(root)), range(MOST_ENTRIES), strict=False):
        # The change time: unlike the modification time, copying a file cannot set it back.
        if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_ctime_ns >= since:
            written.append(str(Path(entry.path).relative_to(root)))
    return sorted(written)


def describe(files: list[str]) -> str:
    """One line that names the files."""
    more = f" and {len(files) - SHOWN} more" if len(files) > SHOWN else ""
    return f"[files written: {', '.join(files[:SHOWN])}{more}]"


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name in SKIPPED:
            continue
        yield entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(entry.path)
