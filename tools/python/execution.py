"""One execution of Python code by the warm worker."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from ..output import Output
from .figures import read_figures
from .worker import Run, Worker

KILLED = 137
"""Exit code of code that died together with its guardian."""


@dataclass(frozen=True)
class Execution:
    """How the code ended."""

    output: Output
    """Standard output and error, in order, with the echoed value and the traceback."""

    exit_code: int | None
    """0 after a normal end, 1 after an exception, else what the code exited with; None where its time was over."""

    figures: list[bytes] = field(default_factory=list)
    """Figures that it drew, as PNGs."""

    lost: bool = False
    """Whether the worker or kernel is gone, or no longer to be trusted: the code has killed more than itself."""


async def execute(code: str, worker: Worker, output: Output, seconds: float) -> Execution:
    """Run `code` in a process of its own; after `seconds` it is killed with all that it started.

    Raises:
        OSError: the worker is gone.
    """
    run = await worker.start(code)
    reading = asyncio.create_task(_collect(run, output))
    try:
        async with asyncio.timeout(seconds):
            await asyncio.shield(reading)
            exit_code = await run.wait()
        figures = await asyncio.to_thread(read_figures, run.figures)
        return Execution(output, KILLED if exit_code is None else exit_code, figures, lost=exit_code is None)
    except TimeoutError:
        return Execution(output, None)
    finally:
        await run.close()
        await reading


async def _collect(run: Run, output: Output) -> None:
    while chunk := await run.output.read(2**18):
        output.write(chunk)
