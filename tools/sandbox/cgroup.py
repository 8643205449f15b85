"""Control groups: limits on what all processes of a sandbox use together, where the system lets us make one."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from .limits import Limits

ROOT = Path("/sys/fs/cgroup")

PREFIX = "clew-"
"""Begins the name of each group of ours; the id of the process that made it follows."""


@dataclass(frozen=True)
class ControlGroup:
    """Groups of one sandbox: one in the unified hierarchy, or one in each old one."""

    folders: tuple[Path, ...]
    """Folders of the groups; empty where none could be made."""

    @property
    def doors(self) -> list[str]:
        """Files that a process writes 0 to, to enter."""
        return [str(folder / "cgroup.procs") for folder in self.folders]

    def close(self) -> None:
        """Remove the groups; their processes have ended."""
        for folder in self.folders:
            with suppress(OSError):
                folder.rmdir()


def open_group(limits: Limits, root: Path = ROOT) -> ControlGroup:
    """Make the groups, with as many of the limits as the system lets us set. Blocking."""
    name = f"{PREFIX}{os.getpid()}-{uuid4().hex[:12]}"
    if (root / "cgroup.controllers").exists():
        values = {"memory.max": limits.memory, "memory.swap.max": 0, "pids.max": limits.processes}
        groups = {root / name: values}
    else:
        memory = {"memory.limit_in_bytes": limits.memory, "memory.memsw.limit_in_bytes": limits.memory}
        groups = {root / "memory" / name: memory, root / "pids" / name: {"pids.max": limits.processes}}
    for parent in {folder.parent for folder in groups}:
        _sweep(parent)
    return ControlGroup(tuple(folder for folder, values in groups.items() if _make(folder, values)))


def _make(folder: Path, values: dict[str, int]) -> bool:
    try:
        folder.mkdir()
    except OSError:
        return False
    taken = [_set(folder / name, value) for name, value in values.items()]
    if not any(taken):
        folder.rmdir()
    return any(taken)


def _set(file: Path, value: int) -> bool:
    try:
        file.write_text(str(value))
    except OSError:
        return False
    return True


def _sweep(parent: Path) -> None:
    """Remove the groups of processes that were killed before they could."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        maker = folder.name.removeprefix(PREFIX).partition("-")[0]
        if not Path("/proc", maker).exists():
            with suppress(OSError):
                folder.rmdir()
