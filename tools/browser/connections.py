"""The browser's only way to the network: a SOCKS proxy that asks the guard about every connection.

Checking here, at the address that is dialled, holds for redirects, frames, scripts, WebSockets and names whose
address changes between check and use; checking URLs does not. The protocol is RFC 1928, without authentication.
"""

from __future__ import annotations

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from types import TracebackType

from ...state.errors import ToolFailure
from ..web.guard import Guard

VERSION = 5
GREETING = bytes([VERSION, 0])
BOUND = bytes([0, 1, 0, 0, 0, 0, 0, 0])
GRANTED, REFUSED, UNREACHABLE = 0, 2, 4
IPV4, NAME, IPV6 = 1, 3, 4
CHUNK = 65536
DIAL_SECONDS = 15.0
MOST_REASONS = 100


class ConnectionFilter:
    """A SOCKS5 proxy on loopback, open inside `async with`."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.reasons: dict[str, str] = {}
        """Why the last hosts could not be reached."""

    @property
    def url(self) -> str:
        """Address for the browser's proxy setting."""
        assert self._server is not None
        return f"socks5://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> ConnectionFilter:
        """Start to listen on a free port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop listening and cut what is open."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, asyncio.CancelledError):
            # The browser hung up, or the filter closes: the task has nobody to tell.
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        host, port = await _read_request(reader, writer)
        try:
            upstream = await self._dial(host, port)
        except ToolFailure as failure:
            self._remember(host, str(failure))
            return await _answer(writer, REFUSED)
        except OSError as error:
            self._remember(host, f"{host}:{port} does not answer: {error.strerror or 'timed out'}")
            return await _answer(writer, UNREACHABLE)
        try:
            await _answer(writer, GRANTED)
            await _join(reader, writer, *upstream)
        finally:
            upstream[1].close()

    async def _dial(self, host: str, port: int) -> tuple[StreamReader, StreamWriter]:
        failure = OSError()
        for address in await self._guard(host, port):
            try:
                async with asyncio.timeout(DIAL_SECONDS):
                    return await asyncio.open_connection(address, port)
            except OSError as error:
                failure = error
        raise failure

    def _remember(self, host: str, reason: str) -> None:
        self.reasons.pop(host, None)
        self.reasons[host] = reason
        if len(self.reasons) > MOST_REASONS:
            del self.reasons[next(iter(self.reasons))]


async def _read_request(reader: StreamReader, writer: StreamWriter) -> tuple[str, int]:
    _, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    writer.write(GREETING)
    *_, kind = await reader.readexactly(4)
    if kind == NAME:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii", "replace")
    elif kind == IPV4:
        host = socket.inet_ntop(socket.AF_INET, await reader.readexactly(4))
    else:
        host = socket.inet_ntop(socket.AF_INET6, await reader.readexactly(16))
    return host, int.from_bytes(await reader.readexactly(2), "big")


async def _answer(writer: StreamWriter, code: int) -> None:
    writer.write(bytes([VERSION, code]) + BOUND)
    await writer.drain()


async def _join(reader: StreamReader, writer: StreamWriter, far: StreamReader, far_writer: StreamWriter) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(reader, far_writer))
        group.create_task(_copy(far, writer))


async def _copy(source: StreamReader, target: StreamWriter) -> None:
    with suppress(OSError):
        while data := await source.read(CHUNK):
            target.write(data)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
