"""What the sandboxes on other machines have in common: programs, and files in a workspace that is there alone."""

from __future__ import annotations

import asyncio
import io
import posixpath
import sys
import zipfile
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar
from weakref import WeakSet

from ...state.errors import ToolFailure
from ...state.sandbox import WORKSPACE
from ..workspace import Workspace
from . import bridge
from .cgroup import ControlGroup
from .limits import SandboxOptions
from .local import LocalSandbox
from .process import GuardedProcess
from .protocol import FileDownloadResponse, FileUploadResponse
from .remote_process import BRIDGE, FOLDER, LIST, RemoteProcess, machine_mark, run

LIBRARY = f"{FOLDER}/library.zip"
"""The packages, on the other machine, that clew's own programs import."""

PACKAGES = ("pathspec",)
"""What clew's own programs import beside the standard library."""

PREPARE = f"""mkdir -p {FOLDER} {WORKSPACE}
for file in $({LIST}); do
  file=${{file#/proc/}}
  kill -s KILL "${{file%/environ}}" 2>/dev/null
done"""
"""Makes the folders, and kills what a killed run left behind."""


class RemoteSandbox(LocalSandbox):
    """The workspace is `/workspace` on another machine and nowhere else."""

    contained: ClassVar[bool] = True
    inherits: ClassVar[bool] = False

    def __init__(self, workspace: Workspace, options: SandboxOptions, machine: Any) -> None:
        super().__init__(workspace, options, ControlGroup(()))
        self._machine = machine
        self._processes: WeakSet[RemoteProcess] = WeakSet()

    @property
    @abstractmethod
    def unreachable(self) -> type[Exception]:
        """What the machine raises where it is out of reach."""

    @property
    def id(self) -> str:
        """Backend and machine: the same again after a resume."""
        return f"{self.name}:{self._machine.id}"

    async def start(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        descriptors: Sequence[int] = (),
        readable: Sequence[Path] = (),
    ) -> GuardedProcess:
        """Start a program in the workspace; the host's interpreter stands for the machine's.

        Raises:
            ToolFailure: the program is told the number of one of `descriptors`, or the machine is out of reach.
        """
        if {str(descriptor) for descriptor in descriptors} & set(command):
            raise ToolFailure("This does not work on another machine; run the program without a terminal.")
        names = {sys.executable: "python3", **{str(path): f"{FOLDER}/{path.name}" for path in readable}}
        own = {"PYTHONPATH": LIBRARY} if command[0] == sys.executable else {}
        try:
            for path in readable:
                await self._machine.fs.upload_file(path.read_bytes(), names[str(path)])
            inside = [names.get(part, part) for part in command]
            process = await RemoteProcess.start(
                self._machine, inside, {**own, **(env or {})}, str(WORKSPACE), self.unreachable
            )
        except self.unreachable as error:
            reason = f"The sandbox {self.name} is out of reach ({first_line(error)}); try again."
            raise ToolFailure(reason) from error
        self._processes.add(process)
        return process

    async def locate(self, path: str) -> Path:
        """Real path, on the machine, of something in the workspace.

        Raises:
            ToolFailure: the path leads out of the workspace, or there is nothing.
        """
        place = self._place(path)
        real = (await run(self._machine, 'test -e "$1" && readlink -f "$1"', place)).strip()
        if not real:
            raise ToolFailure(f"There is no {path} in the workspace; view the folder to see what there is.")
        if not PurePosixPath(real).is_relative_to(WORKSPACE):
            raise ToolFailure(f"{path} is outside the workspace {WORKSPACE}; give a path inside it.")
        return Path(real)

    async def upload_files(self, files: Sequence[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files of the workspace, each with its folders."""
        return [await self._upload_file(path, content) for path, content in files]

    async def download_files(self, paths: Sequence[str]) -> list[FileDownloadResponse]:
        """Read files of the workspace."""
        return [await self._download_file(path) for path in paths]

    async def close(self) -> None:
        """Kill what runs."""
        await asyncio.gather(*(process.close() for process in self._processes))

    def _place(self, path: str) -> str:
        place = posixpath.normpath(WORKSPACE / path)
        if not PurePosixPath(place).is_relative_to(WORKSPACE):
            raise ToolFailure(f"{path} is outside the workspace {WORKSPACE}; give a path inside it.")
        return place

    async def _upload_file(self, path: str, content: bytes) -> FileUploadResponse:
        try:
            place = self._place(path)
            await run(self._machine, 'mkdir -p "$1"', posixpath.dirname(place))
            await self._machine.fs.upload_file(content, place)
        except (ToolFailure, self.unreachable) as error:
            return FileUploadResponse(path, first_line(error))
        return FileUploadResponse(path)

    async def _download_file(self, path: str) -> FileDownloadResponse:
        try:
            content = await self._machine.fs.download_file(str(await self.locate(path)))
        except (ToolFailure, self.unreachable) as error:
            return FileDownloadResponse(path, error=first_line(error))
        return FileDownloadResponse(path, content)


def machine_name(workspace: Workspace, options: SandboxOptions) -> str:
    """Name of the machine of a workspace, with these options."""
    key = f"{workspace.root} {options.model_dump_json(exclude={'daytona': {'api_key'}})}"
    return f"clew-{sha256(key.encode()).hexdigest()[:20]}"


async def prepare(machine: Any) -> None:
    """Bring clew's own programs."""
    await run(machine, PREPARE, machine_mark(machine))
    for content, place in await asyncio.to_thread(_programs):
        await machine.fs.upload_file(content, place)


def _programs() -> list[tuple[bytes, str]]:
    return [(Path(bridge.__file__).read_bytes(), BRIDGE), (_library(), LIBRARY)]


def _library() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in PACKAGES:
            found = find_spec(name)
            assert found is not None, "clew depends on it"
            [folder] = found.submodule_search_locations or []
            for file in sorted(Path(folder).rglob("*.py")):
                archive.write(file, file.relative_to(Path(folder).parent))
    return content.getvalue()


def first_line(error: Exception) -> str:
    """What an error says, in one line."""
    return str(error).strip().partition("\n")[0]
