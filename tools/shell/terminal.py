"""The terminal of a session: what interactive commands read from and write to."""

from __future__ import annotations

import asyncio
import os
import termios
from collections.abc import Awaitable, Callable

ROWS, COLUMNS = 40, 120
"""Size that programs are told."""

KEYS = {
    "C-d": b"\x04",
    "Enter": b"\n",
    "Tab": b"\t",
    "Escape": b"\x1b",
    "Backspace": b"\x7f",
    "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Right": b"\x1b[C",
    "Left": b"\x1b[D",
}
"""What each key sends. Ctrl-C is not among them: it is a signal, as programs of the session own no terminal."""


class Terminal:
    """A pseudo-terminal without echo. All that is written to it is handed to `write`, in order."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._write = write
        self._master, self.slave = os.openpty()
        os.set_blocking(self._master, False)
        _configure(self.slave)
        self._readable = asyncio.Event()
        self._draining = asyncio.Lock()
        asyncio.get_running_loop().add_reader(self._master, self._readable.set)
        self._pump = asyncio.create_task(self._read(), name="clew terminal output")

    def type(self, data: bytes) -> bool:
        """Type `data`; whether the terminal took all of it."""
        try:
            return os.write(self._master, data) == len(data)
        except BlockingIOError:
            return False

    async def drain(self) -> None:
        """Hand on all that is written already."""
        async with self._draining:
            while data := self._taken():
                await self._write(data)

    async def close(self) -> None:
        """Give the terminal up. Twice does nothing."""
        if self._pump.done():
            return
        asyncio.get_running_loop().remove_reader(self._master)
        self._pump.cancel()
        await asyncio.wait([self._pump])
        os.close(self._master)
        os.close(self.slave)

    async def _read(self) -> None:
        while True:
            await self._readable.wait()
            self._readable.clear()
            await self.drain()

    def _taken(self) -> bytes:
        try:
            return os.read(self._master, 2**16)
        except BlockingIOError:
            return b""


def _configure(descriptor: int) -> None:
    settings = termios.tcgetattr(descriptor)
    settings[1] &= ~termios.OPOST  # line breaks stay as they are
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSANOW, settings)
    termios.tcsetwinsize(descriptor, (ROWS, COLUMNS))
