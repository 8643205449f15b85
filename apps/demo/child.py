"""A command of clew in a process of its own, followed by its events."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...checkpoints.encryption import KEY_VARIABLE
from ...state.errors import ClewError
from ...state.stream import Event, read_event


class Child:
    """A running command. Get one from `start`."""

    def __init__(self, process: subprocess.Popen[bytes], errors: Path) -> None:
        self._process = process
        self._errors = errors

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    def events(self) -> Iterator[Event]:
        """What the command does, until it ends or is killed."""
        assert self._process.stdout is not None, "it was started with a pipe"
        for line in self._process.stdout:
            if line.endswith(b"\n"):  # a killed process may leave half a line
                yield read_event(line)

    def kill(self) -> int:
        """End the process at once with SIGKILL, which it cannot see coming, and return its exit code."""
        os.kill(self.pid, signal.SIGKILL)
        return self._process.wait()

    def finish(self) -> None:
        """Wait for the end of the command.

        Raises:
            ClewError: it did not end with 0.
        """
        if code := self._process.wait():
            raise ClewError(f"the command ended with {code}: {self._errors.read_text(errors='replace').strip()}")


@contextmanager
def start(arguments: Sequence[str], home: Path) -> Iterator[Child]:
    """Start `clew ARGUMENTS --json` with none of the person's settings but the key; it is gone at the end."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_") or name == KEY_VARIABLE}
    command = [sys.executable, "-m", "clew.apps.cli.main", *arguments, "--json"]
    with tempfile.TemporaryDirectory() as folder:
        errors = Path(folder) / "stderr"
        with (
            errors.open("wb") as stream,
            subprocess.Popen(
                command,
                cwd=home,
                env={**own, "CLEW_HOME": str(home)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stream,
            ) as process,
        ):
            try:
                yield Child(process, errors)
            finally:
                process.kill()
