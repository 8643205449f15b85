"""The command line, in this process and in others."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clew.apps.cli.main import main

COMMAND = [sys.executable, "-m", "clew.apps.cli.main"]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def end(self) -> dict[str, Any]:
        return self.events[-1]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, and no settings from outside."""
    for name in [name for name in os.environ if name.startswith(("CLEW_", "OPENAI_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("CLEW_CONFIRM", "never")  # with or without a sandbox, but for the tests that ask
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def clew(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """Run a command in this process."""

    def call(*argv: str) -> Result:
        capsys.readouterr()
        try:
            code = main([str(word) for word in argv])
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return Result(code, out, err)

    return call


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Make the standard input of this process a terminal, its output one in name, and type a text there."""
    ours, theirs = pty.openpty()
    with os.fdopen(theirs) as stdin:

        def type_text(text: str) -> None:
            monkeypatch.setattr(sys, "stdin", stdin)
            monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
            os.write(ours, text.encode())

        yield type_text
    os.close(ours)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command as a process of its own, in a group of its own; whatever is left at the end is killed."""
    started = []

    def begin(*argv: str, **arguments: Any) -> subprocess.Popen[str]:
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen([*COMMAND, *argv], start_new_session=True, **{**pipes, **arguments})
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def script(folder: Path) -> Callable[..., str]:
    """Write a script of replies, and give the name of its model."""

    def write(*replies: Any, name: str = "script") -> str:
        path = folder / f"{name}.json"
        path.write_text(json.dumps(list(replies)))
        return f"script:{path}"

    return write


def call_reply(*calls: tuple[str, dict[str, Any]], content: str = "") -> dict[str, Any]:
    return {"content": content, "tool_calls": [{"name": name, "args": args} for name, args in calls]}


@pytest.fixture
def calls() -> Callable[..., dict[str, Any]]:
    """A scripted reply that calls tools, each given as (name, arguments)."""
    return call_reply
