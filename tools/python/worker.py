"""The warm worker: a process in the sandbox that starts Python code within milliseconds."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..sandbox import guardian
from ..sandbox.local import LocalSandbox
from ..sandbox.process import GuardedProcess
from . import runner, zygote

ENVIRONMENT = {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8:backslashreplace"}
"""Variables of the code: figures need no screen, and any string can be printed."""


@dataclass
class Run:
    """Code that runs."""

    output: asyncio.StreamReader
    """Its standard output and error, in order."""

    figures: IO[bytes]
    """File that it writes its figures to."""

    _status: asyncio.StreamReader
    _lifeline: int
    _transports: tuple[asyncio.ReadTransport, ...]

    async def wait(self) -> int | None:
        """Its exit code, its processes are gone by then; None if its guardian was killed, as by `kill -9 -1`."""
        text = await self._status.read()
        return int(text) if text else None

    async def close(self) -> None:
        """Kill it if it still runs, with all that it started."""
        os.close(self._lifeline)
        with suppress(ConnectionResetError):
            await self._status.read()
        for transport in self._transports:
            transport.close()
        self.figures.close()


class Worker:
    """One worker process; as many executions at once as are asked for."""

    def __init__(self, process: GuardedProcess, requests: socket.socket) -> None:
        self._process = process
        self._requests = requests

    @classmethod
    async def open(cls, sandbox: LocalSandbox, preload: Sequence[str] = ()) -> Worker:
        """Start a worker in `sandbox` that has the modules `preload` imported already."""
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as kept:
            kept.enter_context(ours)
            scripts = [zygote.__file__, guardian.__file__, runner.__file__]
            arguments = (scripts[0], str(theirs.fileno()), *scripts[1:], *preload)
            process = await sandbox.start(
                (sys.executable, "-u", *arguments),
                env=ENVIRONMENT,
                descriptors=[theirs.fileno()],
                readable=[Path(script) for script in scripts],
            )
            kept.pop_all()
        ours.setblocking(False)
        return cls(process, ours)

    @property
    def alive(self) -> bool:
        """Whether the worker can still start something."""
        return self._process.process.returncode is None

    async def start(self, code: str) -> Run:
        """Start `code`.

        Raises:
            OSError: the worker is gone.
        """
        output, output_end = os.pipe()
        status, status_end = os.pipe()
        lifeline_end, lifeline = os.pipe()
        figures = await asyncio.to_thread(_file, "")
        ours = [lifeline]
        try:
            with await asyncio.to_thread(_file, code) as file:
                descriptors = [file.fileno(), output_end, lifeline_end, status_end, figures.fileno()]
                socket.send_fds(self._requests, [b"+"], descriptors)
            output_reader, output_transport = await _reader(output)
            status_reader, status_transport = await _reader(status)
            ours = []
        except OSError:
            ours += [output, status]
            figures.close()
            raise
        finally:
            for descriptor in (output_end, status_end, lifeline_end, *ours):
                os.close(descriptor)
        return Run(output_reader, figures, status_reader, lifeline, (output_transport, status_transport))

    async def close(self) -> None:
        """Kill the worker and all that it started."""
        await self._process.close()
        self._requests.close()
        await self._process.output.read()


def _file(code: str) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    file.write(code.encode())
    file.seek(0)
    return file


async def _reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    reader = asyncio.StreamReader()
    pipe = os.fdopen(descriptor, "rb", buffering=0)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    return reader, transport
