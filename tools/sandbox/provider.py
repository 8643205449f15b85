"""Sandboxes of other packages, which have the shape of deepagents' `SandboxBackendProtocol`.

Such a backend runs one command to its end and moves files. What clew needs beyond it, programs that are talked to by
pipes, goes through files on the backend's machine that short commands write and read.
"""

from __future__ import annotations

import asyncio
import posixpath
import shlex
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, ClassVar, Protocol

from typing_extensions import Self

from ...state.errors import UsageError
from ...state.sandbox import WORKSPACE
from ..plugins import foreign_code, load_plugin
from ..workspace import Workspace
from .limits import SandboxOptions
from .protocol import ExecuteResponse, FileDownloadResponse, FileUploadResponse
from .remote import RemoteSandbox, first_line, machine_name, prepare
from .remote_process import FOLDER, LOST

GROUP = "clew.sandboxes"
"""Entry points: functions that are given a name and return the backend of that name, the same machine each time."""

SECONDS = 60
"""What one of clew's own short commands may take."""

PIECE = 3 * 2**13
"""Bytes of output that are fetched at a time; they are few enough that no backend cuts them."""

BEGIN = """mkdir -p "$1" && cd "$1" && mkfifo pipe && : >input && {
  (
    tail -c +1 -f input >pipe &
    feeder=$!
    echo "$feeder" >feeder
    sh <pipe >output 2>&1
    echo $? >code.new
    mv code.new code
    kill "$feeder"
  ) >/dev/null 2>&1 </dev/null &
}"""

END = 'kill "$(cat "$1/feeder")" 2>/dev/null; rm -rf "$1"'

FETCH = """cd "$1" || exit 1
tries=0
while [ ! -e code ] && [ "$(wc -c <output)" -le "$2" ] && [ "$tries" -lt 20 ]; do
  sleep 0.05
  tries=$((tries + 1))
done
echo "[$(cat code 2>/dev/null)]"
tail -c "+$(($2 + 1))" output | head -c "$3" | base64 | tr -d '\\n'"""
"""Waits a second for output, and says the exit code if there is one, then what comes behind the first bytes."""


class Backend(Protocol):
    """The part of deepagents' `SandboxBackendProtocol` that is used; `aexecute` and the like are used if they exist."""

    @property
    def id(self) -> str:
        """Names the machine."""

    def execute(self, command: str, *, timeout: int | None = None) -> ExecuteResponse:
        """Run a shell command to its end."""

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[FileUploadResponse]:
        """Write files, by their absolute paths."""

    def download_files(self, paths: list[str]) -> list[FileDownloadResponse]:
        """Read files, by their absolute paths."""


class BackendError(Exception):
    """A backend raised, or did not do one of clew's own short commands."""


class ProviderSandbox(RemoteSandbox):
    """A backend of another package. Where it has a `close`, that is called when the run ends."""

    name: ClassVar[str] = "provider"

    @property
    def unreachable(self) -> type[Exception]:
        """What the machine raises."""
        return BackendError

    @property
    def id(self) -> str:
        """The provider's name and the machine: the same again after a resume."""
        return f"{self.options.provider}:{self._machine.id}"

    @classmethod
    async def open(cls, workspace: Workspace, options: SandboxOptions) -> Self:
        """Ask the provider for the machine of the workspace.

        Raises:
            UsageError: no package offers the provider, or it gives no machine that works.
        """
        make = await asyncio.to_thread(find_provider, options)
        try:
            machine = BackendMachine(_checked(await _call(make, machine_name(workspace, options))))
            await machine.prepare()
        except BackendError as error:
            reason = f"The sandbox {options.provider} does not work ({first_line(error)}); check its settings."
            raise UsageError(reason) from error
        return cls(workspace, options, machine)

    async def close(self) -> None:
        """Kill what runs, and close the backend."""
        await super().close()
        with suppress(BackendError):
            await self._machine.close()


def find_provider(options: SandboxOptions) -> Callable[[str], Any]:
    """What makes the backends of the provider that the settings name.

    Raises:
        UsageError: none is named, or no package offers it, or it is broken.
    """
    if options.provider is None:
        raise UsageError("The sandbox provider needs a name; set provider in [sandbox].")
    make = load_plugin(GROUP, options.provider, _accept)
    if make is None:
        raise UsageError(f"No package offers the sandbox {options.provider!r}; install the one that does.")
    return make


def _accept(found: object) -> Callable[[str], Any]:
    if not callable(found):
        raise TypeError(f"{found!r} is no function that makes a sandbox")
    return found


def _checked(backend: Any) -> Backend:
    needed = ("id", "execute", "upload_files", "download_files")
    if missing := [name for name in needed if not hasattr(backend, name)]:
        raise BackendError(f"what its function returned has no {' and no '.join(missing)}")
    checked: Backend = backend
    return checked


class BackendMachine:
    """A backend with the methods of Daytona's SDK that `RemoteSandbox` and its processes use."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.id = backend.id
        own = SimpleNamespace(exec=self.execute, create_pty_session=self._begin)
        self.process, self.fs = own, SimpleNamespace(upload_file=self._upload, download_file=self._download)

    async def execute(self, command: str) -> SimpleNamespace:
        """Run one of clew's own short commands; its output is in `result`."""
        answer = await self._do("execute", command, timeout=SECONDS)
        if answer.truncated or answer.exit_code is None:
            raise BackendError("a short command was cut off")
        return SimpleNamespace(result=answer.output, exit_code=answer.exit_code)

    async def script(self, text: str, *arguments: str) -> str:
        """Output of a shell script that is to succeed."""
        answer = await self.execute(shlex.join(["sh", "-c", text, "sh", *arguments]))
        if answer.exit_code != 0:
            raise BackendError(answer.result.strip() or f"a short command ended with {answer.exit_code}")
        return str(answer.result)

    async def prepare(self) -> None:
        """Make the workspace and bring clew's own programs; where that fails the backend is closed."""
        try:
            await self.script('mkdir -p "$1" && test -w "$1"', str(WORKSPACE))
            await prepare(self)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Close the backend if it can be closed."""
        if hasattr(self._backend, "close") or hasattr(self._backend, "aclose"):
            await self._do("close")

    async def _upload(self, content: bytes, path: str) -> None:
        await self.script('mkdir -p "$1"', posixpath.dirname(path))
        [fate] = await self._do("upload_files", [(path, content)])
        if fate.error:
            raise BackendError(f"{path}: {fate.error}")

    async def _download(self, path: str) -> bytes:
        [fate] = await self._do("download_files", [path])
        if fate.error or fate.content is None:
            raise BackendError(f"{path}: {fate.error}")
        return bytes(fate.content)

    async def _begin(
        self,
        id: str,
        on_data: Callable[[bytes], Awaitable[None]],
    ) -> PipeSession:
        folder = f"{FOLDER}/{id}"
        await self.script(BEGIN, folder)
        return PipeSession(self, folder, on_data)

    async def _do(self, name: str, *arguments: Any, **named: Any) -> Any:
        prefix = "a" if hasattr(self._backend, f"a{name}") else ""
        return await _call(getattr(self._backend, f"{prefix}{name}"), *arguments, **named)


class PipeSession:
    """A shell on the machine, with the methods of Daytona's terminal sessions."""

    def __init__(self, machine: BackendMachine, folder: str, on_data: Callable[[bytes], Awaitable[None]]) -> None:
        self._machine = machine
        self._folder = folder
        self._on_data = on_data
        self.exit_code: int | None = None
        self._fetching = asyncio.create_task(self._fetch(), name="clew output")

    async def send_input(self, data: str | bytes) -> None:
        """Hand input to the shell."""
        text = b64encode(data.encode() if isinstance(data, str) else data).decode()
        await self._machine.script('printf %s "$2" | base64 -d >>"$1/input"', self._folder, text)

    async def wait(self) -> None:
        """Wait until the shell ended and its output was handed on."""
        await self._fetching

    async def kill(self) -> None:
        """End what reads the input, and with it the shell."""
        await self._machine.script(END, self._folder)

    async def disconnect(self) -> None:
        """Fetch no more."""
        self._fetching.cancel()

    async def _fetch(self) -> None:
        place = 0
        try:
            while True:
                answer = await self._machine.script(FETCH, self._folder, str(place), str(PIECE))
                code, _, text = answer.partition("]\n")
                if data := b64decode(text):
                    place += len(data)
                    await self._on_data(data)
                elif code != "[":
                    self.exit_code = int(code[1:])
                    return
        except BackendError:
            self.exit_code = LOST


async def _call(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    with foreign_code(BackendError):
        if asyncio.iscoroutinefunction(function):
            return await function(*arguments, **named)
        return await asyncio.to_thread(function, *arguments, **named)
