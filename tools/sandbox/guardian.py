"""Runs one command and sees to it that no process of it outlives us. A script of its own: standard library only.

    python -I -S guardian.py LIFELINE [--limit NAME=VALUE | --group FILE]… -- COMMAND [ARGUMENT …]

LIFELINE is the number of an inherited pipe's read end; only the process that started the guardian holds the other
end. When that process dies, by whatever signal, the pipe ends and the guardian kills all descendants of the command,
also those that became daemons (on Linux they come back to the guardian as their subreaper). The same happens when the
command itself ends. Each limit is a `RLIMIT_` of the command, each file the door of a control group that it enters.
The guardian exits with the command's exit code, 128 + N after signal N.
"""

from __future__ import annotations

import os
import select
import signal
import sys

TYPE_CHECKING = False  # importing typing for it would double the start-up time
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
COMMAND_NOT_FOUND = 127


def main(lifeline: int, arguments: list[str]) -> int:
    """Run the command to its end, or to the end of the lifeline; its exit code."""
    options, command = _split(arguments)
    return supervise(lambda: _execute(command, options), lifeline)


def supervise(work: Callable[[], NoReturn], lifeline: int) -> int:
    """Do `work` in a child until it ends or the lifeline does, then kill what is left of it; the child's exit code.

    Takes the process over: its signals, its standard streams and all its children.
    """
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    ended, ring = os.pipe()
    os.set_blocking(ring, False)
    signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        # The guardian itself may be killed: then the command goes too.
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _hear_the_keyboard()
        work()
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    code = _wait(child, lifeline, ended)
    _kill_descendants()
    return code


def _hear_the_keyboard() -> None:
    # A program that a shell starts in the background ignores these signals, and its children would too: then nothing
    # could interrupt a command.
    for number, action in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, action)


def _split(arguments: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    end = arguments.index("--")
    return list(zip(arguments[:end:2], arguments[1:end:2], strict=True)), arguments[end + 1 :]


def _execute(command: list[str], options: list[tuple[str, str]]) -> NoReturn:
    try:
        for name, value in options:
            _confine(name, value)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(COMMAND_NOT_FOUND)


def _confine(name: str, value: str) -> None:
    if name == "--group":
        door = os.open(value, os.O_WRONLY)
        os.write(door, b"0")
        os.close(door)
        return
    import resource  # absent on Windows

    limit, _, number = value.partition("=")
    kind = getattr(resource, f"RLIMIT_{limit}")
    hard = resource.getrlimit(kind)[1]
    most = int(number) if hard == resource.RLIM_INFINITY else min(int(number), hard)
    try:
        resource.setrlimit(kind, (most, most))
    except ValueError:
        return  # macOS knows some limits by name alone


def _wait(child: int, lifeline: int, ended: int) -> int:
    while True:
        ready, _, _ = select.select([lifeline, ended], [], [])
        if lifeline in ready:
            return 128 + signal.SIGKILL
        os.read(ended, 4096)
        code = _reap(child)
        if code is not None:
            return code


def _reap(child: int) -> int | None:
    """Collect what has ended; the exit code of `child` if it is among them."""
    code = None
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if process == 0:
            return code
        if process == child:
            number = os.waitstatus_to_exitcode(status)
            code = number if number >= 0 else 128 - number


def _kill_descendants() -> None:
    while True:
        killed = [process for process in descendants(os.getpid()) if _kill(process)]
        if not killed:
            _reap(0)
            return
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _kill(process: int) -> bool:
    """Whether the process was there and is ours to kill."""
    try:
        os.kill(process, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def descendants(root: int) -> list[int]:
    """Ids of all processes below `root`, parents first."""
    children: dict[int, list[int]] = {}
    for process, parent in _parents():
        children.setdefault(parent, []).append(process)
    found, level = [], [root]
    while level:
        level = [child for parent in level for child in children.get(parent, [])]
        found.extend(level)
    return found


def _parents() -> list[tuple[int, int]]:
    try:
        entries = list(os.scandir("/proc"))
    except FileNotFoundError:
        return _parents_by_ps()
    pairs = []
    for entry in entries:
        if entry.name.isdigit() and (parent := _parent(entry.path)) is not None:
            pairs.append((int(entry.name), parent))
    return pairs


def _parent(folder: str) -> int | None:
    """Parent of the process whose folder in /proc this is; None if the process has ended."""
    try:
        descriptor = os.open(f"{folder}/stat", os.O_RDONLY)
    except OSError:
        return None
    try:
        state, parent = os.read(descriptor, 4096).rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return None
    finally:
        os.close(descriptor)
    return None if state == b"Z" else int(parent)


def _parents_by_ps() -> list[tuple[int, int]]:
    import subprocess  # slow to import, and not needed where there is /proc

    listing = subprocess.run(["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    own = os.getpid()
    pairs = [(int(process), int(parent)) for process, parent in map(str.split, listing.splitlines())]
    return [(process, parent) for process, parent in pairs if process != own]


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        import ctypes  # absent from some builds of Python elsewhere

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
