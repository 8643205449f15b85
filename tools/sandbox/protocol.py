"""What a sandbox can do. The names and shapes are those of deepagents' sandbox protocol, asynchronous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Protocol

from .process import GuardedProcess


@dataclass(frozen=True)
class ExecuteResponse:
    """How a command ended."""

    output: str
    """Standard output and error, in order."""

    exit_code: int | None = None
    """None where the command ran out of time."""

    truncated: bool = False
    """Whether `output` leaves something out."""


@dataclass(frozen=True)
class FileUploadResponse:
    """Fate of one file that went up."""

    path: str
    """Path as it was given."""

    error: str | None = None
    """One sentence; None where it went well."""


@dataclass(frozen=True)
class FileDownloadResponse:
    """One file that came down."""

    path: str
    """Path as it was given."""

    content: bytes | None = None
    """Its content; None where there is an error."""

    error: str | None = None
    """One sentence; None where it went well."""


class Sandbox(Protocol):
    """A place where commands run."""

    @property
    def id(self) -> str:
        """Names the sandbox; a remote one is found again by it."""

    contained: ClassVar[bool]
    """Whether commands are kept from what is outside of the workspace."""

    async def execute(
        self,
        command: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - deepagents' name
        env: Mapping[str, str] | None = None,
        stdin: str = "",
    ) -> ExecuteResponse:
        """Run a bash command to its end; after `timeout` seconds it is killed."""

    async def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
        readable: Sequence[Path] = (),
    ) -> GuardedProcess:
        """Start a program that is talked to by pipes; it sees the files in `readable` beside the workspace."""

    async def upload_files(self, files: Sequence[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files, each with its folders."""

    async def download_files(self, paths: Sequence[str]) -> list[FileDownloadResponse]:
        """Read files."""

    async def close(self) -> None:
        """Give the sandbox up."""
