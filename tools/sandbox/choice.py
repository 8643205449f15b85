"""Which sandbox there is on this machine."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ...state.errors import UsageError
from ..workspace import Workspace
from .bubblewrap import BubblewrapSandbox
from .docker import DockerSandbox, connect
from .limits import SandboxOptions
from .local import LocalSandbox

PROBE_SECONDS = 20.0
"""What starting a command in bubblewrap may take before it counts as not working."""

UNCONTAINED = "local: commands run with all of your rights"


@dataclass(frozen=True)
class Backend:
    """Where commands would run here."""

    name: str
    """Name of the backend."""

    contained: bool
    """Whether commands are kept from what is outside of the workspace."""

    description: str
    """One line: the name and what it means."""

    remedy: str = ""
    """How to get a backend that contains, where this one does not and another was meant to; a sentence."""


async def describe_backend(options: SandboxOptions) -> Backend:
    """Which backend `open_sandbox` opens with these options.

    Raises:
        UsageError: a backend is asked for that does not work here.
    """
    network = "with the network" if options.network else "without network"
    if options.backend == "local":
        return Backend("local", False, UNCONTAINED)
    if options.backend == "docker":
        await asyncio.to_thread(lambda: connect().close())
        return Backend("docker", True, f"docker: commands run in a container of {options.docker.image}, {network}")
    problem = await bubblewrap_problem()
    if problem is None:
        return Backend("bubblewrap", True, f"bubblewrap: commands see the workspace and no other file, {network}")
    if options.backend == "bubblewrap":
        raise _unusable(problem)
    return Backend("local", False, UNCONTAINED, f"bubblewrap: {problem}")


async def open_sandbox(workspace: Workspace, options: SandboxOptions) -> LocalSandbox:
    """Open the backend that `options` name; `auto` tries bubblewrap first.

    Raises:
        UsageError: bubblewrap or docker is asked for and does not work here.
    """
    if options.backend == "local":
        return await LocalSandbox.open(workspace, options)
    if options.backend == "docker":
        return await DockerSandbox.open(workspace, options)
    problem = await bubblewrap_problem()
    if problem is None:
        return await BubblewrapSandbox.open(workspace, options)
    if options.backend == "bubblewrap":
        raise _unusable(problem)
    return await LocalSandbox.open(workspace, options)


async def bubblewrap_problem() -> str | None:
    """Why bubblewrap does not work here, in a sentence that says how to mend it; None where it works."""
    if await asyncio.to_thread(shutil.which, "bwrap") is None:
        return "the program bwrap is missing; install the package bubblewrap."
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="clew-probe-")
    probe = await BubblewrapSandbox.open(Workspace(Path(folder)), SandboxOptions())
    try:
        answer = await probe.execute("echo works", timeout=PROBE_SECONDS)
    finally:
        await probe.close()
        await asyncio.to_thread(shutil.rmtree, folder)
    if answer.exit_code == 0 and answer.output == "works\n":
        return None
    return f"it says {answer.output.strip() or 'nothing'!r}; allow unprivileged user namespaces."


def _unusable(problem: str) -> UsageError:
    return UsageError(f"The sandbox bubblewrap does not work here: {problem} Or choose the backend local.")
