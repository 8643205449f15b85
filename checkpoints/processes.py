"""Which process is which, and whether one is still alive."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Process:
    """One process of one machine, told from a later one that was given the same number."""

    host: str
    """Name of the machine."""

    pid: int
    """Number of the process."""

    started: str
    """When it started, as its machine puts it: boot, number space and clock ticks; or a date."""

    def is_alive(self) -> bool | None:
        """Whether it still runs; None where that cannot be seen from here: another machine or container."""
        here = this_process()
        if self.host != here.host or _realm(self.started) != _realm(here.started):
            return None
        return _started(self.pid) == self.started


def this_process() -> Process:
    """The process that asks."""
    pid = os.getpid()
    return Process(platform.node(), pid, _started(pid) or "")


def _realm(started: str) -> str:
    return started.rpartition("/")[0]


def _started(pid: int) -> str | None:
    """When a process started; None if there is none, or only its corpse is left."""
    if Path("/proc/self/stat").exists():
        return _started_by_proc(pid)
    return _started_by_ps(pid)


def _started_by_proc(pid: int) -> str | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    if fields[0] in "ZX":
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}/{fields[19]}"


def _started_by_ps(pid: int) -> str | None:
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, date = answer.stdout.strip().partition(" ")
    return f"/{date.strip()}" if state and not state.startswith("Z") else None
