"""A command that runs under a guardian, so that nothing of it outlives this process."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from . import guardian


@dataclass(eq=False)
class GuardedProcess:
    """A running command. Its standard error goes where its standard output goes, so that their order is kept."""

    process: Process
    """The guardian; its pipes are the command's."""

    lifeline: int
    """Write end of the pipe whose end ends the command."""

    wrappers: int = 0
    """Processes between the guardian and the command, such as bubblewrap's own."""

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """Pipe to the command's standard input."""
        assert self.process.stdin is not None, "the guardian is started with pipes"
        return self.process.stdin

    @property
    def output(self) -> asyncio.StreamReader:
        """Pipe from the command's standard output and error."""
        assert self.process.stdout is not None, "the guardian is started with pipes"
        return self.process.stdout

    async def wait(self) -> int:
        """Exit code of the command; 128 + N if signal N ended it. Descendants are gone by then."""
        code = await self.process.wait()
        self._cut()
        return code if code >= 0 else 128 - code

    async def close(self) -> None:
        """Kill the command and all its descendants, and wait until they are gone. Twice does nothing."""
        self._cut()
        self.stdin.close()
        await self.process.wait()
        with suppress(BrokenPipeError, ConnectionResetError):
            await self.stdin.wait_closed()

    async def descendants(self) -> list[int]:
        """Ids of the processes of the command, the command itself first. Wrappers are not among them."""
        processes = await asyncio.to_thread(guardian.descendants, self.process.pid)
        return processes[self.wrappers :]

    async def send_signal(self, number: signal.Signals, spare: Sequence[int] = ()) -> None:
        """Send a signal to all processes of the command but those in `spare`."""
        for process in await self.descendants():
            if process not in spare:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)

    def _cut(self) -> None:
        lifeline, self.lifeline = self.lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)


async def start_guarded(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    descriptors: Sequence[int] = (),
    rlimits: Mapping[str, int] | None = None,
    groups: Sequence[str] = (),
    wrappers: int = 0,
) -> GuardedProcess:
    """Start `command` in `folder` under a guardian.

    Args:
        command: Program and arguments.
        folder: Its current folder.
        environment: All of its environment.
        descriptors: Descriptors that it inherits under their own numbers.
        rlimits: Limits of each of its processes, by the name of their `RLIMIT_` constant.
        groups: Doors of the control groups that it enters.
        wrappers: How many processes `command` begins with that are not the program that is meant.

    Raises:
        OSError: the folder or the interpreter is missing.
    """
    limits = [f"{name}={value}" for name, value in (rlimits or {}).items()]
    options = [*chain(*(("--limit", limit) for limit in limits)), *chain(*(("--group", door) for door in groups))]
    ours, lifeline = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", guardian.__file__, str(ours), *options, "--", *command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            cwd=folder,
            env=environment,
            pass_fds=(ours, *descriptors),
            start_new_session=True,
        )
    except BaseException:
        os.close(lifeline)
        raise
    finally:
        os.close(ours)
    return GuardedProcess(process, lifeline, wrappers)
