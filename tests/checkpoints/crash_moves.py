"""Imports or forks a thread again and again, in processes that die by SIGKILL at ever later instants.

Run as `SCRIPT FOLDER URL MOVE KILLS`: one process that has imported everything makes the thread `t` and the file
`FOLDER/t.clew` and forks those that move it, first to `u0`, undisturbed, then to `u1` … `uKILLS`, which die before or
after one of their calls of the database, evenly spread over all of them; the last ones live.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import FrameType
from typing import Any

import environment  # noqa: F401
from labyrinth import State
from labyrinth_threads import pending_calls, waiting

from clew.checkpoints.export import export_thread, import_thread
from clew.checkpoints.fork import fork_thread
from clew.checkpoints.journal import Journal
from clew.checkpoints.open import open_saver

CALLS = {"execute", "executemany"}


class Ticks:
    """Counts what this process asks of its database, and kills it at the `last` time."""

    def __init__(self, last: int = 0) -> None:
        self.last, self.count = last, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        of_sqlite = event in ("c_call", "c_return") and argument.__name__ in CALLS
        of_postgres = event in ("call", "return") and code.co_name in CALLS and "psycopg" in code.co_filename
        if of_sqlite or of_postgres:
            self.count += 1
            if self.count == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


async def make(folder: Path, url: str) -> None:
    async with open_saver(url, states=[State]) as saver:
        for call, checkpoint in (await pending_calls(await waiting(saver))).items():
            await Journal(saver).begin(call, checkpoint)
        await saver.blobs.put("t", b"another picture")
        await export_thread(saver, "t", folder / "t.clew")


async def move(folder: Path, url: str, how: str, target: str, ticks: Ticks) -> None:
    async with open_saver(url, states=[State]) as saver:
        sys.setprofile(ticks)
        if how == "import":
            await import_thread(saver, folder / "t.clew", target)
        else:
            await fork_thread(saver, "t", target)
        sys.setprofile(None)
    if not ticks.last:
        (folder / "ticks").write_text(str(ticks.count))


def in_a_process(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """The status of a process that does the work."""
    child = os.fork()
    if child == 0:
        asyncio.run(work())
        os._exit(0)
    return os.waitpid(child, 0)[1]


def main(folder: Path, url: str, how: str, kills: int) -> None:
    assert in_a_process(lambda: make(folder, url)) == 0
    assert in_a_process(lambda: move(folder, url, how, "u0", Ticks())) == 0
    # Some more than undisturbed: each but the first also clears what the one before it left.
    ticks = int((folder / "ticks").read_text()) * 5 // 4
    for number in range(1, kills + 1):
        last = Ticks(1 + (number - 1) * (ticks - 1) // max(kills - 1, 1))
        status = in_a_process(lambda last=last, number=number: move(folder, url, how, f"u{number}", last))  # type: ignore[misc]
        assert status == 0 or os.WIFSIGNALED(status), status


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
