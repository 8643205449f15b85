"""Which sandbox there is on this machine."""

from __future__ import annotations

import asyncio
import shutil
import subprocess

from ...state.errors import UsageError
from ...state.sandbox import Backend
from ..workspace import Workspace
from . import daytona
from .bubblewrap import BubblewrapSandbox, bare_command
from .docker import DockerSandbox, connect
from .limits import SandboxOptions
from .local import LocalSandbox
from .provider import ProviderSandbox, find_provider

PROBE_SECONDS = 20.0
"""What starting a command in bubblewrap may take before it counts as not working."""

UNCONTAINED = "local: commands run with all of your rights"


async def describe_backend(options: SandboxOptions) -> Backend:
    """Which backend `open_sandbox` opens with these options.

    Raises:
        UsageError: a backend is asked for that does not work here.
    """
    network = "with the network" if options.network else "without network"
    if options.backend == "local":
        return Backend(name="local", contained=False, description=UNCONTAINED)
    if options.backend == "docker":
        await asyncio.to_thread(lambda: connect().close())
        return _contained("docker", f"run in a container of {options.docker.image}, {network}")
    if options.backend == "daytona":
        await (await asyncio.to_thread(daytona.connect, options)).close()
        return _contained("daytona", f"run on a machine of Daytona from {options.daytona.image}, {network}")
    if options.backend == "provider":
        await asyncio.to_thread(find_provider, options)
        return _contained(f"{options.provider}", "run where this provider has them run")
    problem = await bubblewrap_problem()
    if problem is None:
        return _contained("bubblewrap", f"see the workspace and no other file, {network}")
    if options.backend == "bubblewrap":
        raise _unusable(problem)
    return Backend(name="local", contained=False, description=UNCONTAINED, remedy=f"bubblewrap: {problem}")


def _contained(name: str, what: str) -> Backend:
    return Backend(name=name, contained=True, description=f"{name}: commands {what}")


async def open_sandbox(workspace: Workspace, options: SandboxOptions) -> LocalSandbox:
    """Open the backend that `options` name; `auto` tries bubblewrap first.

    Raises:
        UsageError: bubblewrap or docker is asked for and does not work here.
    """
    if options.backend == "local":
        return await LocalSandbox.open(workspace, options)
    if options.backend == "docker":
        return await DockerSandbox.open(workspace, options)
    if options.backend == "daytona":
        return await daytona.DaytonaSandbox.open(workspace, options)
    if options.backend == "provider":
        return await ProviderSandbox.open(workspace, options)
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
    probe = await asyncio.to_thread(_probe)
    if probe.returncode == 0:
        return None
    return f"it says {probe.stderr.strip() or 'nothing'!r}; allow unprivileged user namespaces."


def _probe() -> subprocess.CompletedProcess[str]:
    command = [*bare_command(), "true"]
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return subprocess.CompletedProcess(command, 1, "", str(error))


def _unusable(problem: str) -> UsageError:
    return UsageError(f"The sandbox bubblewrap does not work here: {problem} Or choose the backend local.")
