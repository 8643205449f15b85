"""A command on another machine, talked to over a terminal session as Daytona has them."""

from __future__ import annotations

import asyncio
import json
import shlex
import signal
import socket
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any
from uuid import uuid4

from . import bridge
from .process import GuardedProcess

FOLDER = "/tmp/clew"
"""Where clew's own files are on the other machine."""

BRIDGE = f"{FOLDER}/bridge.py"

LIST = f'grep -lsF "{bridge.MARK}=$1" /proc/[0-9]*/environ'
"""Lists the processes of the commands whose mark begins so."""

PIECE = 3 * 2**12
"""Bytes of input that go in one line."""

LOST = 128 + signal.SIGKILL
"""Exit code of a command whose connection or machine is gone."""


def machine_mark(machine: Any) -> str:
    """What the marks of all commands on a machine begin with: machines may share the processes of their host."""
    return sha256(str(machine.id).encode()).hexdigest()[:12]


class RemoteProcess(GuardedProcess):
    """A running command on another machine. It has no process on this one."""

    _stdin: asyncio.StreamWriter
    _output: asyncio.StreamReader
    _terminal: Any

    def __init__(self, machine: Any, unreachable: type[Exception]) -> None:
        self._machine = machine
        self._unreachable = unreachable
        self._mark = f"{machine_mark(machine)}{uuid4().hex}"
        self._begin = f"{bridge.begin(self._mark)}\n".encode()
        self._noise: bytes | None = b""
        self._begun = asyncio.Event()
        self._closing = asyncio.Lock()
        self._closed = False
        self.wrappers = 0

    @classmethod
    async def start(
        cls,
        machine: Any,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: str,
        unreachable: type[Exception],
    ) -> RemoteProcess:
        """Start `command` on a running machine, which has the bridge.

        Args:
            machine: Sandbox of the `daytona` SDK, or what does as it does.
            command: Program and arguments.
            environment: Variables beside those of the machine.
            folder: Current folder.
            unreachable: What `machine` raises where it is out of reach.
        """
        process = cls(machine, unreachable)
        given = {"command": [*command], "environment": dict(environment), "folder": folder}
        await machine.fs.upload_file(json.dumps(given).encode(), f"{FOLDER}/{process._mark}.json")
        await process._connect()
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
        """Exit code of the command; 128 + N if signal N ended it, or its connection."""
        await asyncio.shield(self._ending)
        code = self._terminal.exit_code
        return LOST if code is None else int(code)

    async def close(self) -> None:
        """Kill the command and all that it started, and give the terminal up. Twice does nothing."""
        async with self._closing:
            if self._closed:
                return
            # A machine that is out of reach or stopped takes its processes with it.
            with suppress(self._unreachable):
                while await self._is_running():
                    await self.send_signal(signal.SIGKILL)
                await self._terminal.kill()
            await self._terminal.disconnect()
            self._closed = True
            self._feeding.cancel()
            await asyncio.wait([self._ending, self._feeding])
            for writer in (self._stdin, *self._kept):
                writer.close()

    async def descendants(self) -> list[int]:
        """Ids of the processes of the command, the command itself first."""
        files = "" if self._closed else await run(self._machine, LIST, self._mark)
        return sorted(int(file.split("/")[2]) for file in files.split())

    async def send_signal(self, number: signal.Signals, spare: Sequence[int] = ()) -> None:
        """Send a signal to all processes of the command but those in `spare`."""
        processes = [str(process) for process in await self.descendants() if process not in spare]
        if processes:
            await run(self._machine, 'kill -s "$@" 2>/dev/null', number.name.removeprefix("SIG"), *processes)

    async def _is_running(self) -> bool:
        return not self._ending.done() and bool(await self.descendants())

    async def _connect(self) -> None:
        input_end, self._stdin, one = await _pair()
        self._output, self._sink, other = await _pair()
        self._kept = [one, other]
        self._terminal = await self._machine.process.create_pty_session(id=f"clew-{self._mark}", on_data=self._take)
        # Input that is typed before the terminal is raw would come back in the output, which has not begun by then.
        line = f"stty raw -echo; exec python3 {BRIDGE} {FOLDER} {self._mark}\n"
        await self._terminal.send_input(line)
        self._feeding = asyncio.create_task(self._feed(input_end), name="clew input")
        self._ending = asyncio.create_task(self._end(), name="clew terminal")

    async def _take(self, data: bytes) -> None:
        if self._noise is not None:
            noise, begun, data = (self._noise + data).partition(self._begin)
            if not begun:
                self._noise = noise
                return
            self._noise = None
            self._begun.set()
        self._sink.write(data)
        with suppress(ConnectionError):
            await self._sink.drain()

    async def _feed(self, source: asyncio.StreamReader) -> None:
        await self._begun.wait()
        with suppress(self._unreachable):
            while chunk := await source.read(PIECE):
                await self._terminal.send_input(b64encode(chunk) + b"\n")
            await self._terminal.send_input(b".\n")

    async def _end(self) -> None:
        # The SDK cancels what is waited for here when the connection is given up; nobody else cancels this task.
        with suppress(asyncio.CancelledError):
            await self._terminal.wait()
        self._sink.close()


async def run(machine: Any, script: str, *arguments: str) -> str:
    """Output of a short shell script."""
    answer = await machine.process.exec(shlex.join(["sh", "-c", script, "sh", *arguments]))
    return str(answer.result)


async def _pair() -> tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.StreamWriter]:
    """What is written into the first writer comes out of the reader; the second one keeps the reader open.

    No more than a socket holds is kept between them.
    """
    one, other = socket.socketpair()
    reader, kept = await asyncio.open_connection(sock=one)
    _, writer = await asyncio.open_connection(sock=other)
    return reader, writer, kept
