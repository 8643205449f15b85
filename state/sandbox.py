"""Where commands run, and what they may use there: the `[sandbox]` table."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt, SecretStr

MEGABYTE = 2**20

WORKSPACE = PurePosixPath("/workspace")
"""Where the workspace is in a container or on another machine."""


class Limits(BaseModel):
    """Limits of a sandbox. Memory and processes count together where the system has cgroups for us, else singly."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    memory: PositiveInt = 4096 * MEGABYTE
    """Bytes of memory."""

    processes: PositiveInt = 512
    """Processes and threads at the same time."""

    file_size: PositiveInt = 2048 * MEGABYTE
    """Bytes of any one file that is written."""

    cpu_seconds: PositiveInt = 3600
    """Processor seconds of any one process."""


class DockerOptions(BaseModel):
    """The container of the docker backend."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    image: str = "python:3.12-slim"
    """Image of the container; it has bash, grep and python3."""

    memory: PositiveInt = 512 * MEGABYTE
    """Bytes of memory of the whole container."""

    cpus: PositiveFloat = 1.0
    """Processors that the container may use."""


class DaytonaOptions(BaseModel):
    """The sandbox of the daytona backend. Its size is that of the seed (``agent-system.rst``, SandboxManus Agent)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    image: str = "python:3.12-slim"
    """Image of the sandbox; it has bash, grep and python3."""

    cpus: PositiveInt = 2
    """Processors."""

    memory: PositiveInt = 4
    """Gigabytes of memory."""

    disk: PositiveInt = 5
    """Gigabytes of disk."""

    auto_stop: NonNegativeInt = 15
    """Minutes without use after which it is stopped; its files stay. 0 for never."""

    api_key: SecretStr | None = None
    """Key of Daytona; None takes DAYTONA_API_KEY."""

    api_url: str | None = None
    """Address of the API; None takes DAYTONA_API_URL, or Daytona's own."""

    target: str | None = None
    """Region; None takes DAYTONA_TARGET, or the organisation's own."""


class SandboxOptions(BaseModel):
    """Which sandbox the tools run in."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    backend: Literal["auto", "bubblewrap", "local", "docker", "daytona", "provider"] = "auto"
    """`auto` is bubblewrap where it works, else local, which contains nothing."""

    provider: str | None = None
    """Name of the sandbox of another package, for the backend `provider`."""

    network: bool = False
    """Whether commands may use the network; the local backend cannot forbid it."""

    limits: Limits = Field(default_factory=Limits)
    """What the sandbox may use."""

    docker: DockerOptions = Field(default_factory=DockerOptions)
    """The container of the docker backend."""

    daytona: DaytonaOptions = DaytonaOptions()
    """The sandbox of the daytona backend."""

    @property
    def shown_workspace(self) -> PurePosixPath | None:
        """Where commands see the workspace; None for its real path."""
        return WORKSPACE if self.remote or self.backend == "docker" else None

    @property
    def remote(self) -> bool:
        """Whether the files of the workspace are on another machine."""
        return self.backend in ("daytona", "provider")


class Backend(BaseModel):
    """Where commands run on this machine, with the options of the settings."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    name: str
    """Name of the backend."""

    contained: bool
    """Whether commands are kept from what is outside of the workspace."""

    description: str
    """One line: the name and what it means."""

    remedy: str = ""
    """How to get a backend that contains, where this one does not and another was meant to; a sentence."""
