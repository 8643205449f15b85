"""What every contestant has to do, and how it is measured. Standard library only: each runs in its own environment.

A step is one reply of about 110 characters with one tool call, and a tool result of about 440 characters. A run of N
steps has N of them and a last reply without a call. The model costs nothing and says the same to everybody.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

SYSTEM = "You look through the files of a project, one at a time, and tell what is in them. " * 5
NEXT_STEP = "Look at the next file, or answer."
TASK = "Tell me what the files of this project hold."
ANSWER = "These were all the files."
TOOL = "look"
TOOL_DESCRIPTION = "Look at a file and return its first lines."

WARM_UP = 3
"""Steps of the run before each measured one. It leaves the processor's caches as a process has them that works."""

ROUNDS = {10: 5, 50: 3}
"""Runs of one process, by steps; the best counts. Longer runs are made once."""


def text(step: int) -> str:
    return f"In step {step} I look at the next file of the list, since what it holds decides where to look after that."


def argument(step: int) -> str:
    return f"src/module_{step}.py"


def look(path: str) -> str:
    return f"{path}: " + "this line of the file says what the line before it has said already. " * 6


@dataclass(frozen=True)
class Job:
    """One run to be measured."""

    steps: int
    database: Path
    """A file that does not exist yet."""

    synchronous: str
    """SQLite's `synchronous`."""

    variant: str
    """Which of a contestant's forms."""

    requests: list[Any] | None = None
    """Where the messages of every request go, in OpenAI's form; None to keep none."""


Prepare = Callable[[Job], AbstractContextManager[Callable[[], Any]]]
"""Opens what a run needs; what it gives performs the run, or loads the thread, and returns the messages."""


@contextmanager
def on_loop(opening: AbstractAsyncContextManager[Any]) -> Iterator[tuple[asyncio.Runner, Any]]:
    """An async context manager, entered on an event loop of its own."""

    async def enter() -> Any:
        return await opening.__aenter__()

    async def leave() -> None:
        await opening.__aexit__(None, None, None)

    with asyncio.Runner() as runner:
        opened = runner.run(enter())
        try:
            yield runner, opened
        finally:
            runner.run(leave())


def finish(runner: asyncio.Runner, coroutine: Coroutine[Any, Any, Any]) -> Any:
    """What the coroutine returns. A runner writes out the result of its task to no purpose, so it is given none."""
    kept = []

    async def keep() -> None:
        kept.append(await coroutine)

    runner.run(keep())
    return kept[0]


def main(prepare_run: Prepare, prepare_resume: Prepare | None = None) -> None:
    """Do what the command line asks for and print one JSON line."""
    options = _options()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        if options.requests:
            report = _requests(prepare_run, options, Path(folder))
        else:
            report = _costs(prepare_run, prepare_resume, options, Path(folder))
    print(json.dumps(report))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--synchronous", default="NORMAL")
    parser.add_argument("--variant", default="")
    parser.add_argument("--folder", help="where the database is made")
    parser.add_argument("--requests", action="store_true", help="measure the requests instead of the time")
    return parser.parse_args()


def _costs(
    prepare_run: Prepare, prepare_resume: Prepare | None, options: argparse.Namespace, folder: Path
) -> dict[str, Any]:
    def job(name: str, steps: int) -> Job:
        return Job(steps, folder / f"{name}.db", options.synchronous, options.variant)

    gc.collect()
    _measured(prepare_run, job("first", WARM_UP))
    memory = _peak_memory()
    jobs, times = [job(str(number), options.steps) for number in range(ROUNDS.get(options.steps, 1))], []
    for number, each in enumerate(jobs):
        gc.collect()
        _measured(prepare_run, job(f"warm-up-{number}", WARM_UP))
        times.append(_measured(prepare_run, each))
    report = {
        "steps": options.steps,
        "cpu_ms": min(cpu for cpu, _ in times) / options.steps,
        "wall_ms": min(wall for _, wall in times) / options.steps,
        "bytes": sum(file.stat().st_size for file in folder.glob(f"{jobs[-1].database.name}*")),
        "peak_mb": _peak_memory(),
        "grown_mb": _peak_memory() - memory,
        "resume_ms": None,
    }
    if prepare_resume:
        report["resume_ms"] = min(_measured(prepare_resume, jobs[-1])[0] for _ in range(3))
    return report


def _measured(prepare: Prepare, job: Job) -> tuple[float, float]:
    """Milliseconds of CPU (all threads) and of wall time that the run takes, or the loading of its thread."""
    with prepare(job) as perform:
        cpu, wall = time.process_time(), time.perf_counter()
        messages = perform()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if len(messages) < 2 * job.steps:
        raise SystemExit(f"the run of {job.steps} steps has {len(messages)} messages")
    return cpu * 1000, wall * 1000


def _requests(prepare: Prepare, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Bytes of each request, and how many of them it begins with like the request before."""
    seen: list[Any] = []
    with prepare(Job(options.steps, folder / "requests.db", options.synchronous, options.variant, seen)) as perform:
        perform()
    requests = [json.dumps(messages, ensure_ascii=False).encode() for messages in seen]
    return {
        "steps": options.steps,
        "bytes": [len(request) for request in requests],
        "repeated": [_common(before, after) for before, after in pairwise(requests)],
    }


def _common(before: bytes, after: bytes) -> int:
    """Bytes that both begin with."""
    low, high = 0, min(len(before), len(after))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if before[:middle] == after[:middle] else (low, middle - 1)
    return low


def _peak_memory() -> float:
    """Most memory that the process had, in MB. Linux counts what the parent had in `ru_maxrss`, so it is asked else."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1_000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_000_000
