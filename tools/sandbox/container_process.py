"""A command that runs in a container, talked to over the connection that the daemon hands over."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

from .process import GuardedProcess

MARK = "CLEW_COMMAND"
"""Variable by which the processes of one command are found, also those that became daemons."""

FIND = f'grep -lsF "{MARK}=$1" /proc/[0-9]*/environ'

BEGIN = "read -r _"
"""First line of each script: the SDK may lose what is written before it has read the daemon's answer."""

SUPERVISE = f"""{BEGIN}
"$@"
code=$?
set -- "${MARK}"
for file in $({FIND}); do
  file=${{file#/proc/}}
  [ "${{file%/environ}}" = $$ ] || kill -s KILL "${{file%/environ}}" 2>/dev/null
done
exit $code"""
"""Runs a command, and kills what it leaves behind."""

LIST = f"{BEGIN}; {FIND}"

KILL = f'{BEGIN}; kill -s "$@" 2>/dev/null'

POLL_SECONDS = 0.05
"""Time between two questions whether a command has ended; its output ends first, so mostly one is enough."""

GONE = (404, 409)
"""Status codes of the daemon for a container that is removed, and for one that does not run."""

KILLED = 128 + signal.SIGKILL
"""Exit code of a command that ended with its container."""

FRAME_HEADER = 8
"""Bytes before each piece of output: the stream, three times nothing, and the length in four."""


class FrameReader(asyncio.StreamReader):
    """Output and error of a command, in order, out of the frames that the daemon sends."""

    def __init__(self, source: asyncio.StreamReader, transport: asyncio.BaseTransport) -> None:
        super().__init__()
        self._source = source
        self._connection = transport
        self._left = 0

    async def read(self, n: int = -1) -> bytes:
        """At most `n` bytes, all if negative; nothing at the end, which also closes the connection."""
        if n < 0:
            chunks = []
            while chunk := await self.read(2**16):
                chunks.append(chunk)
            return b"".join(chunks)
        try:
            while self._left == 0:
                header = await self._source.readexactly(FRAME_HEADER)
                self._left = int.from_bytes(header[4:], "big")
            chunk = await self._source.read(min(n, self._left))
        except (asyncio.IncompleteReadError, ConnectionError):
            chunk = b""
        if not chunk:
            self._connection.close()
        self._left -= len(chunk)
        return chunk


class InputWriter(asyncio.StreamWriter):
    """Standard input of a command: closing it leaves the other direction open."""

    def close(self) -> None:
        """Send the end of the input."""
        with suppress(OSError):
            self.write_eof()

    async def wait_closed(self) -> None:
        """Return at once: the end of the input is on its way."""


class ContainerProcess(GuardedProcess):
    """A running command of a container. It has no process on this machine."""

    _execution: str
    _stdin: InputWriter
    _output: FrameReader

    def __init__(self, api: Any, container: str) -> None:
        self._api = api
        self._container = container
        self._mark = uuid4().hex
        self.wrappers = 1

    @classmethod
    async def start(
        cls, api: Any, container: str, command: Sequence[str], environment: Mapping[str, str], folder: str
    ) -> ContainerProcess:
        """Start `command` in a running container, under a supervisor.

        Args:
            api: Low-level client of the `docker` SDK.
            container: Id of the container, which has sh and grep.
            command: Program and arguments.
            environment: Variables beside those of the image.
            folder: Current folder.
        """
        process = cls(api, container)
        options = {"environment": {**environment, MARK: process._mark}, "workdir": folder}
        process._execution, process._stdin, process._output = await process._attach(SUPERVISE, command, **options)
        return process

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Connection to the command's standard input."""
        return self._stdin

    @property
    def output(self) -> asyncio.StreamReader:
        """Connection from the command's standard output and error."""
        return self._output

    async def wait(self) -> int:
        """Exit code of the command; 128 + N if signal N ended it, or the end of the container."""
        while (state := await asyncio.to_thread(self._inspect))["Running"]:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
        return int(state["ExitCode"])

    async def close(self) -> None:
        """Kill the command with all that it started, and wait until they are gone. Twice does nothing."""
        self._stdin.close()
        while processes := await self._processes():
            await self._run(KILL, "KILL", *map(str, processes))
        await self.wait()

    async def descendants(self) -> list[int]:
        """Ids, in the container, of the processes of the command, the command itself first."""
        return (await self._processes())[self.wrappers :]

    async def send_signal(self, number: signal.Signals, spare: Sequence[int] = ()) -> None:
        """Send a signal to all processes of the command but those in `spare`."""
        processes = [str(process) for process in await self.descendants() if process not in spare]
        if processes:
            await self._run(KILL, number.name.removeprefix("SIG"), *processes)

    async def _processes(self) -> list[int]:
        files = await self._run(LIST, self._mark)
        return sorted(int(file.split("/")[2]) for file in files.decode().split())

    def _inspect(self) -> Mapping[str, Any]:
        try:
            state: Mapping[str, Any] = self._api.exec_inspect(self._execution)
        except import_module("docker.errors").APIError as error:
            if error.status_code not in GONE:
                raise
            return {"Running": False, "ExitCode": KILLED}
        return state

    async def _run(self, script: str, *arguments: str) -> bytes:
        """Output of a script; nothing where the container is gone, and all of its processes with it."""
        try:
            _, stdin, output = await self._attach(script, arguments)
        except import_module("docker.errors").APIError as error:
            if error.status_code not in GONE:
                raise
            return b""
        stdin.close()
        return await output.read()

    async def _attach(
        self, script: str, arguments: Sequence[str], **options: Any
    ) -> tuple[str, InputWriter, FrameReader]:
        execution, connection = await asyncio.to_thread(self._execute, script, arguments, options)
        loop, source = asyncio.get_running_loop(), asyncio.StreamReader()
        protocol = asyncio.StreamReaderProtocol(source)
        transport, _ = await loop.create_connection(lambda: protocol, sock=connection)
        stdin = InputWriter(transport, protocol, source, loop)
        stdin.write(b"\n")
        return execution, stdin, FrameReader(source, transport)

    def _execute(self, script: str, arguments: Sequence[str], options: Mapping[str, Any]) -> tuple[str, socket.socket]:
        command = ["sh", "-c", script, "sh", *arguments]
        execution = self._api.exec_create(self._container, command, stdin=True, **options)["Id"]
        answer = self._api.exec_start(execution, socket=True)
        # Taken from the SDK's response, which would close it.
        connection = socket.socket(fileno=answer._sock.detach())
        connection.setblocking(False)
        return execution, connection
