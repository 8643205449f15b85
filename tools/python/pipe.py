"""A pipe that several processes write to, and that can be emptied at any moment."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable


class OutputPipe:
    """Hands all that is written to it to `write`, in order."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._write = write
        self._ours, self.end = os.pipe()
        os.set_blocking(self._ours, False)
        self._readable = asyncio.Event()
        self._draining = asyncio.Lock()
        asyncio.get_running_loop().add_reader(self._ours, self._readable.set)
        self._pump = asyncio.create_task(self._read(), name="clew kernel output")

    def release(self) -> None:
        """Close our copy of the end that is written to, once the process has its own."""
        end, self.end = self.end, -1
        if end >= 0:
            os.close(end)

    async def drain(self) -> None:
        """Hand on all that is written already."""
        async with self._draining:
            while data := self._taken():
                await self._write(data)

    async def close(self) -> None:
        """Give the pipe up. Twice does nothing."""
        self.release()
        if self._ours < 0:
            return
        asyncio.get_running_loop().remove_reader(self._ours)
        self._pump.cancel()
        ours, self._ours = self._ours, -1
        await asyncio.wait([self._pump])
        os.close(ours)

    async def _read(self) -> None:
        while True:
            await self._readable.wait()
            self._readable.clear()
            await self.drain()
            await asyncio.sleep(0)

    def _taken(self) -> bytes:
        try:
            return os.read(self._ours, 2**16)
        except BlockingIOError:
            return b""
