"""Runs a graph on a thread in processes that die by SIGKILL again and again, until one of them finishes it.

A script that ends in `main(build)` is run as

- `SCRIPT FOLDER fork KILLS SEED…`: one process that has imported everything forks those that run and die, first for an
  undisturbed run in `FOLDER/undisturbed`, then for one in `FOLDER/SEED` for each seed;
- `SCRIPT FOLDER alone`: this very process runs the thread to its end.

`build(folder, saver, leave)` makes the graph; `await leave(name)` is an effect that is counted. What happened stands in
the folder: `effects` has a line for each effect, `lives` a JSON line for each process, `end.json` the final state.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

import environment  # noqa: F401
from langchain_core.messages import BaseMessage, ToolMessage

from clew.checkpoints.open import open_saver
from clew.state.context import RunContext

Leave = Callable[[str], Awaitable[str]]
Build = Callable[[Path, Any, Leave], Any]
THREAD: Any = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "the task")]}


class Life:
    """One process of a run; it kills itself at its `last`-th tick, if that is not 0, and tells a pipe when it is up."""

    def __init__(self, folder: Path, number: int, last: int = 0, begun: int | None = None) -> None:
        self.folder, self.number, self.last, self.begun, self.ticks = folder, number, last, begun, 0

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    async def leave(self, name: str) -> str:
        """Leave a line in `effects`; death may come before, after and while waiting."""
        self.tick()
        append(self.folder / "effects", f"{self.number} {name}")
        await asyncio.sleep(0)
        self.tick()
        return name

    def watch(self, saver: Any) -> None:
        """Tick before and after everything that the saver writes; LangGraph works with copies of it."""
        for name in ("aput", "aput_writes"):
            setattr(type(saver), name, self._watched(getattr(type(saver), name)))

    def _watched(self, write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(write)  # LangGraph looks whether the method takes a task's path
        async def watched(*args: Any, **kwargs: Any) -> Any:
            self.tick()
            result = await write(*args, **kwargs)
            self.tick()
            return result

        return watched

    async def run(self, build: Build) -> None:
        async with open_saver(self.folder / "threads.db") as saver:
            graph = build(self.folder, saver, self.leave)
            found = await graph.aget_state(THREAD, subgraphs=True)
            append(self.folder / "lives", json.dumps({"life": self.number, **kept(found)}))
            self.watch(saver)
            if self.begun is not None:
                os.write(self.begun, b".")
            begun = found.created_at is not None
            if not begun or found.tasks:
                await graph.ainvoke(
                    None if begun else TASK, THREAD, context=RunContext(headless=True), durability="sync"
                )
            state = (await graph.aget_state(THREAD)).values
        (self.folder / "end.json").write_text(json.dumps(described(state)))


def append(path: Path, line: str) -> None:
    """Add a line in one write, which a kill cannot halve."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, f"{line}\n".encode())
    os.close(descriptor)


def kept(found: Any) -> dict[str, list[str]]:
    """What the thread has: results of tool calls, also of agents under way, and the steps that were reported."""
    results = [message.text for message in found.values.get("messages", []) if isinstance(message, ToolMessage)]
    reported = [report["step"] for report in found.values.get("reports", [])]
    for task in found.tasks:
        if hasattr(task.state, "values"):
            results += kept(task.state)["results"]
    return {"results": results, "reported": reported}


def described(state: dict[str, Any]) -> dict[str, Any]:
    """The end of a run, without ids and times that differ from run to run."""
    plan = state.get("plan")
    steps = [
        [step.text, step.status, step.attempts, step.result, [[each.tool, each.status] for each in step.executions]]
        for step in (plan.steps if plan else [])
    ]
    return {"status": state["status"], "messages": [_message(each) for each in state["messages"]], "steps": steps}


def _message(message: BaseMessage) -> list[Any]:
    calls = [[call["id"], call["name"], call["args"]] for call in getattr(message, "tool_calls", [])]
    return [message.type, message.text, calls, getattr(message, "tool_call_id", "")]


def fork_until_finished(build: Build, folder: Path, seed: int, kills: int) -> None:
    """Let one process after the other live; the first `kills` of them die, by turns at a random tick or moment."""
    dice = random.Random(seed)
    folder.mkdir()
    for number in count():
        by_time = number < kills and number % 2 == 1
        last = dice.randint(1, 60) if number < kills and not by_time else 0
        ready, begun = os.pipe()
        child = os.fork()
        if child == 0:
            asyncio.run(Life(folder, number, last, begun).run(build))
            os._exit(0)
        if by_time:
            os.read(ready, 1)
            time.sleep(dice.uniform(0, 0.2))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        os.close(ready)
        os.close(begun)
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0, f"process {number} of {folder} failed"
            return


def main(build: Build) -> None:
    """Do what the command line asks for."""
    folder, mode, *numbers = sys.argv[1:]
    if mode == "fork":
        kills, *seeds = map(int, numbers)
        fork_until_finished(build, Path(folder, "undisturbed"), 0, 0)
        for seed in seeds:
            fork_until_finished(build, Path(folder, str(seed)), seed, kills)
        return
    lives = Path(folder, "lives")
    number = len(lives.read_text().splitlines()) if lives.exists() else 0
    asyncio.run(Life(Path(folder), number).run(build))
