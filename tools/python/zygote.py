"""Starts Python code at once, by forking a process that is warm already. A script of its own: standard library only.

    python -u zygote.py SOCKET GUARDIAN RUNNER [MODULE …]

SOCKET is the number of an inherited socket. Each byte that comes brings five descriptors: the code, the output, a
lifeline, where to write the exit code, and where to write figures. The code runs under a guardian of its own, so it
ends with its lifeline and leaves no process behind. GUARDIAN and RUNNER are the paths of those scripts; the modules are
imported beforehand.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import socket
import sys
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, NoReturn

DESCRIPTORS = 5

NEEDED = ("ctypes", "tokenize")
"""Modules that the guardian and tracebacks import when they need them."""


def main(requests: socket.socket, guardian: Any, runner: Any, modules: list[str]) -> None:
    """Serve requests until the socket is closed."""
    for module in (*NEEDED, *modules):
        with suppress(ImportError):
            import_module(module)
    warm_up()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # finished guardians need no burial
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, 1, DESCRIPTORS)
        if not message:
            return
        if _fork() == 0:
            requests.close()
            _serve(guardian, runner, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def warm_up() -> None:
    """Have pandas make the first table here, so that not each execution loads what its first table needs."""
    if pandas := sys.modules.get("pandas"):
        # A package that is broken, or only has this name, says so where the code uses it.
        with suppress(AttributeError, ImportError, TypeError, ValueError):
            repr(pandas.DataFrame({"a": ["x"]}))


def _serve(guardian: Any, runner: Any, code: int, output: int, lifeline: int, status: int, figures: int) -> NoReturn:
    """Guard one execution, in a process that is for it alone."""

    def work() -> NoReturn:
        for source, target in ((code, 0), (output, 1), (output, 2)):
            os.dup2(source, target)
        for descriptor in (code, output, lifeline, status):
            os.close(descriptor)
        os.set_inheritable(figures, False)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()
        try:
            runner.main(figures)
        except SystemExit as ending:
            _leave(ending.code)
        _leave(None)

    exit_code = guardian.supervise(work, lifeline)
    os.write(status, str(exit_code).encode())
    os._exit(0)


def _leave(code: object) -> NoReturn:
    """End like an interpreter, but without taking it down: that would copy all memory that is shared with us."""
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as the interpreter does
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0 if code is None else code & 0xFF if isinstance(code, int) else 1)


def _fork() -> int:
    with warnings.catch_warnings():
        # Of threads that preloaded modules have started: they hold no lock between requests.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _load(path: str) -> Any:
    spec = spec_from_file_location(f"clew_{os.path.basename(path)[:-3]}", path)  # noqa: PTH119 - pathlib is not loaded
    assert spec is not None, "the path ends in .py"
    assert spec.loader is not None, "it is a file"
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), _load(sys.argv[2]), _load(sys.argv[3]), sys.argv[4:])
