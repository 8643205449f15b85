"""A kernel that remembers what code defined: ipykernel in the sandbox, talked to over sockets in the workspace."""

from __future__ import annotations

import asyncio
import signal
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...state.errors import ToolFailure
from ..output import Output, decode
from ..sandbox.local import LocalSandbox
from ..sandbox.process import GuardedProcess
from ..workspace import Workspace
from . import kernel_launcher
from .cell import Cell
from .execution import Execution
from .pipe import OutputPipe
from .sockets import Sockets
from .worker import ENVIRONMENT

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

START_SECONDS = 60.0
"""What a kernel may take to answer."""

GRACE_SECONDS = 2.0
"""What code has to end after an interrupt, before its kernel is killed."""


class Kernel:
    """One kernel. One cell at a time; the others wait for their turn."""

    _client: AsyncKernelClient
    _process: GuardedProcess
    _ended: asyncio.Task[int]

    def __init__(self, sockets: Sockets) -> None:
        self._sockets = sockets
        self._output = Output()
        self._pipe = OutputPipe(self._write)
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, sandbox: LocalSandbox, workspace: Workspace) -> Kernel:
        """Start a kernel.

        Raises:
            ToolFailure: ipykernel is missing, or the kernel does not start.
        """
        if await asyncio.to_thread(find_spec, "ipykernel") is None:
            raise ToolFailure("`stateful` needs the package ipykernel; leave it out, or install clew[notebook].")
        kernel = cls(await asyncio.to_thread(Sockets, workspace))
        try:
            await kernel._start(sandbox)
        except BaseException:
            await kernel.close()
            raise
        return kernel

    @property
    def alive(self) -> bool:
        """Whether it is there, with all that it remembers."""
        return not self._ended.done()

    async def run(self, code: str, seconds: float) -> Execution:
        """Run one cell to its end, or interrupt it after `seconds`; what heeds no interrupt takes the kernel with it.

        Cancelling the call ends the kernel: what the code was doing must not go on unseen.
        """
        async with self._turn:
            try:
                return await self._run(code, seconds)
            except asyncio.CancelledError:
                await self.close()
                raise

    async def close(self) -> None:
        """Kill the kernel and all that it started. Twice does nothing."""
        if hasattr(self, "_client"):
            self._client.stop_channels()
            self._client.context.destroy(linger=0)
        if hasattr(self, "_process"):
            await self._process.close()
            await self._process.output.read()
            await self._ended
        await self._pipe.close()
        await asyncio.to_thread(self._sockets.remove)

    async def _start(self, sandbox: LocalSandbox) -> None:
        script = Path(kernel_launcher.__file__)
        arguments = (str(self._pipe.end), self._sockets.name)
        self._process = await sandbox.start(
            (sys.executable, "-u", str(script), *arguments),
            env={**ENVIRONMENT, **self._sockets.environment},
            descriptors=[self._pipe.end],
            readable=[script],
        )
        self._pipe.release()
        self._ended = asyncio.create_task(self._process.wait(), name="clew kernel")
        self._process.stdin.write(self._sockets.key)
        self._process.stdin.close()
        self._client = await asyncio.to_thread(self._sockets.client)
        self._client.start_channels(stdin=False, hb=False)
        ready = asyncio.create_task(self._ready())
        await asyncio.wait([ready, self._ended], timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            await self._process.close()
            said = decode(await self._process.output.read()).strip().rpartition("\n")[2]
            raise ToolFailure(f"The kernel did not start ({said}); leave `stateful` out.")

    async def _ready(self) -> None:
        """Ask until an answer comes on the channel of results too: what is published before it is joined is lost."""
        while True:
            self._client.kernel_info()
            try:
                async with asyncio.timeout(0.2):
                    await self._client.get_iopub_msg()
                    return
            except TimeoutError:
                continue

    async def _run(self, code: str, seconds: float) -> Execution:
        cell = Cell(self._client, code)
        running = asyncio.create_task(cell.finish())
        try:
            ended = await self._first(running, seconds)
            if not ended:
                await self._process.send_signal(signal.SIGINT)
                await self._first(running, GRACE_SECONDS)
            lost = not running.done() or cell.leaving
        finally:
            running.cancel()
        if lost:
            await self._process.close()
        await self._pipe.drain()
        self._output.write(cell.text.encode(errors="backslashreplace"))
        output, self._output = self._output, Output()
        exit_code = cell.exit_code if running.done() and not running.cancelled() else self._exit_code()
        return Execution(output, exit_code if ended else None, cell.figures, lost)

    async def _first(self, running: asyncio.Task[None], seconds: float) -> bool:
        """Whether the cell or the kernel ended within `seconds`."""
        done, _ = await asyncio.wait([running, self._ended], timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)

    def _exit_code(self) -> int:
        return self._ended.result() if self._ended.done() else 1

    async def _write(self, data: bytes) -> None:
        self._output.write(data)
