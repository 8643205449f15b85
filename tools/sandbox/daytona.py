"""Commands on a machine of Daytona, through the `daytona` SDK (extra `daytona`).

The workspace is `/workspace` there and nowhere else. The tests drive this code, through the real SDK, against a server
of their own that speaks the part of Daytona's API that is used and runs the commands in bubblewrap; it has not been
tried against Daytona itself.
"""

from __future__ import annotations

import asyncio
import io
import os
import posixpath
import sys
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar
from weakref import WeakSet

from typing_extensions import Self

from ...state.errors import ToolFailure, UsageError
from ...state.sandbox import WORKSPACE
from ..workspace import Workspace
from . import bridge
from .cgroup import ControlGroup
from .limits import SandboxOptions
from .local import LocalSandbox
from .process import GuardedProcess
from .protocol import FileDownloadResponse, FileUploadResponse
from .remote_process import BRIDGE, FOLDER, LEFT, RemoteProcess, run

LIBRARY = f"{FOLDER}/library.zip"
"""The packages, on the other machine, that clew's own programs import."""

PACKAGES = ("pathspec",)
"""What clew's own programs import beside the standard library."""

KEY_VARIABLE = "DAYTONA_API_KEY"

PREPARE = f"""mkdir -p {FOLDER} {WORKSPACE}
for file in $({LEFT}); do
  file=${{file#/proc/}}
  kill -s KILL "${{file%/environ}}" 2>/dev/null
done"""
"""Makes the folders, and kills what a killed run left behind."""

SECONDS = 300.0
"""What making or starting a machine may take."""


class DaytonaSandbox(LocalSandbox):
    """One machine for a workspace: stopped when the run ends, started again when it goes on, with its files."""

    name: ClassVar[str] = "daytona"
    contained: ClassVar[bool] = True
    inherits: ClassVar[bool] = False

    def __init__(self, workspace: Workspace, options: SandboxOptions, client: Any, machine: Any) -> None:
        super().__init__(workspace, options, ControlGroup(()))
        self._client = client
        self._machine = machine
        self._processes: WeakSet[RemoteProcess] = WeakSet()

    @classmethod
    async def open(cls, workspace: Workspace, options: SandboxOptions) -> Self:
        """Find the machine of the workspace by its name and start it, or make it.

        Raises:
            UsageError: there is no SDK, no key, or Daytona refuses.
        """
        client = connect(options)
        try:
            machine = await _find(client, workspace, options)
            await _prepare(machine)
        except import_module("daytona").DaytonaError as error:
            await client.close()
            raise UsageError(f"Daytona does not give a sandbox ({_first_line(error)}); check its settings.") from error
        except BaseException:
            await client.close()
            raise
        return cls(workspace, options, client, machine)

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
            process = await RemoteProcess.start(self._machine, inside, {**own, **(env or {})}, str(WORKSPACE))
        except import_module("daytona").DaytonaError as error:
            raise _out_of_reach(error) from error
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
        """Stop the machine; its files stay."""
        await asyncio.gather(*(process.close() for process in self._processes))
        with suppress(import_module("daytona").DaytonaError):
            await self._machine.stop()
        await self._client.close()

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
        except (ToolFailure, import_module("daytona").DaytonaError) as error:
            return FileUploadResponse(path, _first_line(error))
        return FileUploadResponse(path)

    async def _download_file(self, path: str) -> FileDownloadResponse:
        try:
            content = await self._machine.fs.download_file(str(await self.locate(path)))
        except (ToolFailure, import_module("daytona").DaytonaError) as error:
            return FileDownloadResponse(path, error=_first_line(error))
        return FileDownloadResponse(path, content)


def connect(options: SandboxOptions) -> Any:
    """A client with the key of the settings or the environment; it sends nothing yet.

    Raises:
        UsageError: there is no SDK, or no key.
    """
    try:
        daytona = import_module("daytona")
    except ModuleNotFoundError as error:
        raise UsageError("The sandbox daytona needs the daytona SDK; pip install 'clew[daytona]'.") from error
    own = options.daytona
    key = own.api_key.get_secret_value() if own.api_key else os.environ.get(KEY_VARIABLE)
    if not key:
        raise UsageError(f"The sandbox daytona needs a key; set {KEY_VARIABLE}, or api_key in [sandbox.daytona].")
    return daytona.AsyncDaytona(daytona.DaytonaConfig(api_key=key, api_url=own.api_url, target=own.target))


def machine_name(workspace: Workspace, options: SandboxOptions) -> str:
    """Name of the machine of a workspace, with these options."""
    key = f"{workspace.root} {options.model_dump_json(exclude={'daytona': {'api_key'}})}"
    return f"clew-{sha256(key.encode()).hexdigest()[:20]}"


async def _find(client: Any, workspace: Workspace, options: SandboxOptions) -> Any:
    daytona = import_module("daytona")
    name, own = machine_name(workspace, options), options.daytona
    try:
        machine = await client.get(name)
    except daytona.DaytonaNotFoundError:
        parameters = daytona.CreateSandboxFromImageParams(
            name=name,
            image=daytona.Image.base(own.image).workdir(str(WORKSPACE)),
            resources=daytona.Resources(cpu=own.cpus, memory=own.memory, disk=own.disk),
            auto_stop_interval=own.auto_stop,
            network_block_all=not options.network,
            labels={"made-by": "clew"},
        )
        return await client.create(parameters, timeout=SECONDS)
    if machine.state != daytona.SandboxState.STARTED:
        await machine.start(timeout=SECONDS)
    return machine


async def _prepare(machine: Any) -> None:
    """Bring clew's own programs."""
    await run(machine, PREPARE)
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


def _out_of_reach(error: Exception) -> ToolFailure:
    return ToolFailure(f"The sandbox at Daytona is out of reach ({_first_line(error)}); try again.")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
