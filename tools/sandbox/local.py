"""What the sandboxes on this machine have in common: guarded processes, limits, and files in the workspace."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar

from typing_extensions import Self

from ...state.errors import ToolFailure
from ..editor.history import write_atomically
from ..output import Output
from ..workspace import Workspace
from .cgroup import ControlGroup, open_group
from .environment import clean_environment
from .limits import Limits, SandboxOptions
from .process import GuardedProcess, start_guarded
from .protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse, Sandbox


class LocalSandbox(Sandbox):
    """Runs commands as the user who runs clew. Limits hold, but nothing is contained."""

    name: ClassVar[str] = "local"
    contained: ClassVar[bool] = False
    wrappers: ClassVar[int] = 0
    """Processes between the guardian and the command."""

    inherits: ClassVar[bool] = True
    """Whether programs can be given descriptors of this process."""

    def __init__(self, workspace: Workspace, options: SandboxOptions, group: ControlGroup) -> None:
        self.workspace = workspace
        self.options = options
        self._group = group

    @classmethod
    async def open(cls, workspace: Workspace, options: SandboxOptions) -> Self:
        """Make the control groups; no process is started."""
        return await asyncio.to_thread(lambda: cls(workspace, options, open_group(options.limits)))

    @property
    def id(self) -> str:
        """Backend and workspace: the same again after a resume."""
        return f"{self.name}:{self.workspace.root}"

    async def execute(
        self,
        command: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - deepagents' name
        env: Mapping[str, str] | None = None,
        stdin: str = "",
    ) -> ExecuteResponse:
        """Run a bash command to its end; after `timeout` seconds it is killed with all that it started."""
        process = await self.start(("bash", "-c", command), env=env)
        output = Output()
        exit_code = await converse(process, stdin, output, timeout)
        return ExecuteResponse(output.text(), exit_code, output.truncated)

    async def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
        readable: Sequence[Path] = (),
    ) -> GuardedProcess:
        """Start a program in the workspace.

        Raises:
            OSError: the workspace is gone.
        """
        return await start_guarded(
            await asyncio.to_thread(self._command, command, readable),
            folder=self.workspace.root,
            environment={**clean_environment(), **self._environment(), **(env or {})},
            descriptors=descriptors,
            rlimits=rlimits(self.options.limits, together=bool(self._group.folders)),
            groups=self._group.doors,
            wrappers=self.wrappers,
        )

    async def locate(self, path: str) -> Path:
        """Real path, inside of the sandbox, of something in the workspace.

        Raises:
            ToolFailure: the path leads out of the workspace, or there is nothing.
        """
        return await asyncio.to_thread(self._locate, path)

    async def upload_files(self, files: Sequence[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files of the workspace, each with its folders."""
        return await asyncio.to_thread(lambda: [self._upload(path, content) for path, content in files])

    async def download_files(self, paths: Sequence[str]) -> list[FileDownloadResponse]:
        """Read files of the workspace."""
        return await asyncio.to_thread(lambda: list(map(self._download, paths)))

    async def close(self) -> None:
        """Remove the control groups; what was started must be closed before, or stays in them until it ends."""
        await asyncio.to_thread(self._clean)

    def _clean(self) -> None:
        self._group.close()

    def _command(self, command: Sequence[str], readable: Sequence[Path]) -> list[str]:
        return [*command]

    def _environment(self) -> dict[str, str]:
        return {}

    def _locate(self, path: str) -> Path:
        real = self.workspace.resolve(path)
        if not real.exists():
            raise ToolFailure(f"There is no {path} in the workspace; view the folder to see what there is.")
        return real

    def _upload(self, path: str, content: bytes) -> FileUploadResponse:
        try:
            file = self.workspace.resolve(path)
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, content)
        except (ToolFailure, OSError) as error:
            return FileUploadResponse(path, str(error))
        return FileUploadResponse(path)

    def _download(self, path: str) -> FileDownloadResponse:
        try:
            return FileDownloadResponse(path, self.workspace.resolve(path).read_bytes())
        except (ToolFailure, OSError) as error:
            return FileDownloadResponse(path, error=str(error))


def rlimits(limits: Limits, *, together: bool) -> dict[str, int]:
    """Limits of each process, by the name of their `RLIMIT_` constant; `together` where control groups count memory."""
    single = {} if together else {"AS": limits.memory}
    return {"FSIZE": limits.file_size, "CPU": limits.cpu_seconds, "CORE": 0, **single}


async def converse(process: GuardedProcess, stdin: str, output: Output, seconds: float | None) -> int | None:
    """Feed `stdin` to a process and collect its output until it ends; its exit code, None after `seconds`."""
    reading = asyncio.create_task(_converse(process, stdin, output))
    try:
        async with asyncio.timeout(seconds):
            await asyncio.shield(reading)
            return await process.wait()
    except TimeoutError:
        return None
    finally:
        await process.close()
        await reading


async def _converse(process: GuardedProcess, stdin: str, output: Output) -> None:
    feeding = asyncio.create_task(_feed(process, stdin))
    read = partial(process.output.read, 2**18)
    while chunk := await read():
        output.write(chunk)
    await feeding


async def _feed(process: GuardedProcess, stdin: str) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(stdin.encode())
        await process.stdin.drain()
    process.stdin.close()
