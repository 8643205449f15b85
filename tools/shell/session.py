"""A bash that lives on between commands."""

from __future__ import annotations

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from ...state.errors import ToolFailure
from ..output import Output
from ..sandbox.process import GuardedProcess
from .marks import Mark, MarkReader
from .terminal import Terminal

SHELL = ("bash", "--norc", "--noprofile", "--noediting", "-i")
"""Interactive, because only an interactive bash survives an interrupt, a syntax error and a failed `exec`."""

PROMPTS = {"PS1": "", "PS2": "", "PROMPT_COMMAND": ""}
"""Variables that keep an interactive bash silent."""

MARK_DESCRIPTOR = 9
"""Descriptor that the shell writes its marks to, so that `exec >file` does not swallow them."""

SETUP = f"exec {MARK_DESCRIPTOR}>&1; set +H; set +o history; unset MAILCHECK PROMPT_COMMAND"
"""First line of each session: no history expansion, no mail."""

QUIET_SECONDS = 1.0
"""Silence after which an interactive command is taken to wait for input."""

GRACE_SECONDS = 2.0
"""What a command has to end after an interrupt, and again after it was killed."""


Start = Callable[[Sequence[int]], Awaitable[GuardedProcess]]
"""Starts the shell, with these descriptors inherited."""


@dataclass(frozen=True)
class CommandResult:
    """How a command ended, or where an interactive one stands."""

    output: Output
    """What it wrote since the last result, and what background jobs wrote meanwhile."""

    exit_code: int | None
    """As the shell has it in `$?`; of the shell itself where `ended`; None for a command that still runs."""

    timed_out: bool = False
    """Whether it was interrupted because its time was over."""

    ended: bool = False
    """Whether the shell is gone: `exit`, `exec`, or an interrupt that nothing heeded."""


class Shell:
    """One persistent bash session. One command at a time; the others wait for their turn."""

    _process: GuardedProcess
    _pump: asyncio.Task[None]

    def __init__(self) -> None:
        self._marks = MarkReader()
        self._output = Output()
        self._writing = asyncio.Lock()
        self._stirred = asyncio.Event()
        self._number = 0
        self._turn = asyncio.Lock()
        self._before: list[int] = []
        self._done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._terminal = Terminal(self._write)

    @classmethod
    async def open(cls, start: Start) -> Shell:
        """Open a session in the process that `start` starts."""
        shell = cls()
        try:
            shell._process = await start([shell._terminal.slave])
        except BaseException:
            await shell._terminal.close()
            raise
        shell._pump = asyncio.create_task(shell._read(), name="clew shell output")
        try:
            await shell._start_command(SETUP)
            await shell._done
        except BaseException:
            await shell.close()
            raise
        shell._output = Output()
        return shell

    @property
    def alive(self) -> bool:
        """Whether the shell is there."""
        return not self._pump.done()

    @property
    def running(self) -> bool:
        """Whether an interactive command still runs."""
        return not self._done.done()

    async def run(self, command: str, seconds: float) -> CommandResult:
        """Run a command with empty input to its end, or interrupt it after `seconds`.

        Cancelling the call ends the session: what the command was doing must not go on unseen.
        """
        async with self._session():
            await self._evaluate(command, "</dev/null")
            exit_code = await self._ended_within(seconds)
            if exit_code is not None:
                return self._result(exit_code)
            return self._result(await self._interrupt(), timed_out=True)

    async def interact(self, command: str, seconds: float) -> CommandResult:
        """Run a command on the terminal until it ends, falls silent or `seconds` are over; it goes on meanwhile."""
        async with self._session():
            slave = self._terminal.slave
            await self._evaluate(command, f"<&{slave} >&{slave} 2>&{slave}")
            return await self._settled(seconds, QUIET_SECONDS)

    async def send(self, data: bytes, seconds: float) -> CommandResult:
        """Type to the interactive command that runs; without data, wait for it to write or end.

        Raises:
            ToolFailure: it does not read what is typed.
        """
        async with self._session():
            if data and not self._terminal.type(data):
                raise ToolFailure("The program does not read its input; send less at once, or interrupt it with C-c.")
            return await self._settled(seconds, QUIET_SECONDS if data else seconds)

    async def press_interrupt(self, seconds: float) -> CommandResult:
        """Press Ctrl-C: signal the interactive command that runs."""
        async with self._session():
            await self._process.send_signal(signal.SIGINT)
            return await self._settled(seconds, QUIET_SECONDS)

    async def close(self) -> None:
        """Kill the shell and all it started."""
        await self._process.close()
        await self._pump
        await self._terminal.close()

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[None]:
        async with self._turn:
            try:
                yield
            except asyncio.CancelledError:
                await self.close()
                raise

    async def _evaluate(self, command: str, redirection: str) -> None:
        self._before = await self._process.descendants()
        # One argument of `eval`: whatever is wrong in it, the shell's own input stays whole.
        await self._start_command(f"eval {shlex.quote(command)} {redirection} {MARK_DESCRIPTOR}>&-")

    async def _ended_within(self, seconds: float) -> int | None:
        with suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self._done), seconds)
        return None

    async def _settled(self, seconds: float, silence: float) -> CommandResult:
        """Wait until the command ends, is silent for `silence` seconds, or `seconds` are over."""
        time = asyncio.get_running_loop().time
        end = time() + seconds
        with suppress(TimeoutError):
            while not self._done.done():
                self._stirred.clear()
                async with asyncio.timeout_at(min(end, time() + silence)):
                    await self._stirred.wait()
                silence = QUIET_SECONDS
        await self._terminal.drain()
        return self._result(self._done.result() if self._done.done() else None)

    def _result(self, exit_code: int | None, *, timed_out: bool = False) -> CommandResult:
        output, self._output = self._output, Output()
        return CommandResult(output, exit_code, timed_out, ended=self._pump.done())

    async def _interrupt(self) -> int:
        # Background jobs ignore SIGINT, so it reaches what runs in front; what ignores it too is killed,
        # and at last the shell.
        await self._process.send_signal(signal.SIGINT)
        if (exit_code := await self._ended_within(GRACE_SECONDS)) is not None:
            return exit_code
        await self._process.send_signal(signal.SIGKILL, spare=self._before)
        if (exit_code := await self._ended_within(GRACE_SECONDS)) is not None:
            return exit_code
        await self._process.close()
        return await self._done

    async def _start_command(self, line: str) -> None:
        self._number += 1
        if not self._pump.done():
            self._done = asyncio.get_running_loop().create_future()
        # The empty line ends what an unclosed quote leaves in the shell's parser.
        self._process.stdin.write(f"{line}\n\n{self._marks.command(self._number, MARK_DESCRIPTOR)}\n".encode())
        with suppress(BrokenPipeError, ConnectionResetError):
            await self._process.stdin.drain()

    async def _read(self) -> None:
        """Read all output, so that no background job ever waits for us; until the shell ends."""
        while chunk := await self._process.output.read(2**18):
            for part in self._marks.feed(chunk):
                if isinstance(part, Mark):
                    self._note(part)
                else:
                    await self._write(part)
        await self._write(self._marks.rest())
        exit_code = await self._process.wait()
        if self._done.done():
            self._done = asyncio.get_running_loop().create_future()
        self._done.set_result(exit_code)
        self._stirred.set()

    def _note(self, mark: Mark) -> None:
        # A smaller number is the late mark of a command that is already reported.
        if mark.number == self._number and not self._done.done():
            self._done.set_result(mark.exit_code)
            self._stirred.set()

    async def _write(self, data: bytes) -> None:
        async with self._writing:
            self._output.write(data)
        self._stirred.set()
