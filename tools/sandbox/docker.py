"""Commands in a container of Docker, through the `docker` SDK (extra `docker`).

The workspace is bound to `/workspace`, so its files are the host's too, and outlive the container. The tests drive
this code, through the real SDK, against a server on a Unix socket that speaks the part of Docker's API that is used
and runs the commands in bubblewrap; it has not been tried against a Docker daemon.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import Self

from ...state.errors import ToolFailure, UsageError
from ...state.sandbox import WORKSPACE
from ..workspace import Workspace
from .cgroup import ControlGroup
from .container_process import ContainerProcess
from .environment import FIXED
from .limits import SandboxOptions
from .local import LocalSandbox
from .process import GuardedProcess

LIBRARY = "/clew"
"""Where the packages are, in the container, that clew's own programs import."""

PACKAGES = ("pathspec",)
"""What clew's own programs import beside the standard library."""

PROGRAMS = "programs"
"""Folder, inside the workspace's private one, of clew's own programs."""

ENVIRONMENT = {**FIXED, "LANG": "C.UTF-8", "HOME": "/tmp", "TMPDIR": "/tmp"}

PLAIN = ("http+docker://localhost", "http://")
"""Beginnings of the addresses of daemons whose connections can be handed over: a Unix socket, or TCP without TLS."""


class DockerSandbox(LocalSandbox):
    """One container for a workspace: no privileges, no network unless allowed, its system read-only.

    A program that is told the number of an inherited descriptor cannot run there.
    """

    name: ClassVar[str] = "docker"
    contained: ClassVar[bool] = True
    inherits: ClassVar[bool] = False

    def __init__(self, workspace: Workspace, options: SandboxOptions, client: Any, container: Any) -> None:
        super().__init__(workspace, options, ControlGroup(()))
        self._client = client
        self._container = container

    @classmethod
    async def open(cls, workspace: Workspace, options: SandboxOptions) -> Self:
        """Start the container; one that a killed process left is taken over, without the processes in it.

        Raises:
            UsageError: there is no SDK, no daemon, or no such image.
        """
        return await asyncio.to_thread(cls._open, workspace, options)

    @property
    def id(self) -> str:
        """Backend and container: the same again after a resume."""
        return f"{self.name}:{container_name(self.workspace, self.options)}"

    async def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
        readable: Sequence[Path] = (),
    ) -> GuardedProcess:
        """Start a program in the workspace; the host's interpreter stands for the container's.

        Raises:
            ToolFailure: the program is told the number of one of `descriptors`.
        """
        if {str(descriptor) for descriptor in descriptors} & set(command):
            raise ToolFailure("This tool does not work in a container; use bash, such as `python3 FILE`.")
        inside = await asyncio.to_thread(self._inside, command, readable)
        own = {"PYTHONPATH": LIBRARY} if command[0] == sys.executable else {}
        environment = {**ENVIRONMENT, **own, **(env or {})}
        return await ContainerProcess.start(self._client.api, self._container.id, inside, environment, str(WORKSPACE))

    @classmethod
    def _open(cls, workspace: Workspace, options: SandboxOptions) -> Self:
        client = connect()
        try:
            return cls(workspace, options, client, _start(client, workspace, options))
        except import_module("docker.errors").DockerException as error:
            client.close()
            raise UsageError(f"Docker cannot start the image {options.docker.image!r}, {error}; pull it.") from error

    def _inside(self, command: Sequence[str], readable: Sequence[Path]) -> list[str]:
        names = {sys.executable: "python3"}
        for path in readable:
            copy = self.workspace.private(PROGRAMS, path.name)
            shutil.copyfile(path, copy)
            names[str(path)] = str(WORKSPACE / self.workspace.name(copy))
        return [names.get(part, part) for part in command]

    def _locate(self, path: str) -> Path:
        return Path(WORKSPACE) / self.workspace.name(super()._locate(path))

    def _clean(self) -> None:
        with closing(self._client), suppress(import_module("docker.errors").NotFound):
            self._container.remove(force=True)


def connect() -> Any:
    """A client of the daemon that `DOCKER_HOST` names, or of this machine's. Blocking.

    Raises:
        UsageError: there is no SDK, or no daemon that can be used.
    """
    try:
        docker = import_module("docker")
    except ModuleNotFoundError as error:
        raise UsageError("The sandbox docker needs the docker SDK; pip install 'clew[docker]'.") from error
    try:
        client = docker.from_env()
    except docker.errors.DockerException as error:
        raise UsageError(f"Docker does not answer, {error}; start it, or choose another sandbox.") from error
    if not client.api.base_url.startswith(PLAIN):
        client.close()
        raise UsageError("The sandbox docker needs a Unix socket or plain TCP; set DOCKER_HOST to one.")
    return client


def container_name(workspace: Workspace, options: SandboxOptions) -> str:
    """Name of the container of a workspace, with these options."""
    key = f"{workspace.root} {options.model_dump_json()}"
    return f"clew-{sha256(key.encode()).hexdigest()[:20]}"


def _start(client: Any, workspace: Workspace, options: SandboxOptions) -> Any:
    docker = import_module("docker")
    name = container_name(workspace, options)
    try:
        found = client.containers.get(name)
    except docker.errors.NotFound:
        # `run` also pulls an image that is not there.
        return client.containers.run(
            options.docker.image, ["sleep", "infinity"], name=name, detach=True, **_configuration(workspace, options)
        )
    found.restart(timeout=0)
    return found


def _configuration(workspace: Workspace, options: SandboxOptions) -> dict[str, Any]:
    types = import_module("docker.types")
    limits, docker = options.limits, options.docker
    highest = {"fsize": limits.file_size, "cpu": limits.cpu_seconds, "core": 0}
    return {
        "init": True,
        "user": f"{os.getuid()}:{os.getgid()}",
        "working_dir": str(WORKSPACE),
        "mounts": [
            types.Mount(str(WORKSPACE), str(workspace.root), type="bind"),
            *(types.Mount(f"{LIBRARY}/{name}", _package(name), type="bind", read_only=True) for name in PACKAGES),
        ],
        "network_mode": "bridge" if options.network else "none",
        "read_only": True,
        "tmpfs": {"/tmp": "rw,exec,nosuid,nodev,mode=1777"},
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "mem_limit": docker.memory,
        "memswap_limit": docker.memory,
        "nano_cpus": round(docker.cpus * 1e9),
        "pids_limit": limits.processes,
        "ulimits": [types.Ulimit(name=name, soft=most, hard=most) for name, most in highest.items()],
    }


def _package(name: str) -> str:
    found = find_spec(name)
    assert found is not None, "clew depends on it"
    [folder] = found.submodule_search_locations or []
    return folder
