"""Runs code the way a notebook cell runs. A script of its own: standard library only.

    python -u runner.py [FIGURES]    < CODE

The code runs as `__main__`, with the current folder on the import path and an empty standard input. If its last
statement is an expression, its value is echoed. A traceback shows the code's own frames and nothing of ours.
Figures of matplotlib that are open at the end are written to a descriptor, or to the file FIGURES, if there are any.
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
import traceback
import warnings
from io import BytesIO
from types import CodeType, ModuleType

FILE_NAME = "<python_execute>"
"""Name of the code in tracebacks."""

MOST_FIGURES = 10
"""Figures that are written."""


def run(source: str) -> None:
    """Execute `source`. Leaves by `SystemExit`, with 1 after an exception."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")  # what is shown is captured
    linecache.cache[FILE_NAME] = (len(source), None, source.splitlines(keepends=True), FILE_NAME)
    try:
        for code in compiled(source):
            exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:  # whatever the code raises is its own affair, as in a notebook
        _report(error)
        raise SystemExit(1) from None


def compiled(source: str) -> list[CodeType]:
    """Code objects of `source`: the last statement apart where it is an expression, so that it is echoed."""
    tree = ast.parse(source, FILE_NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    codes = [compile(tree, FILE_NAME, "exec")]
    if isinstance(last, ast.Expr):
        codes.append(compile(ast.Interactive([last]), FILE_NAME, "single"))
    return codes


def open_figures() -> list[int]:
    """Numbers of the open figures."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    return pyplot.get_fignums()[:MOST_FIGURES] if pyplot is not None else []


def save_figures_in(path: str) -> None:
    """Write the open figures into a new file; none if there are none."""
    if not open_figures():
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120 - pathlib is not loaded
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    save_figures(descriptor)
    os.close(descriptor)


def save_figures(descriptor: int) -> None:
    """Write the open figures, each as its length, in four bytes, and a PNG."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    numbers = open_figures()
    with open(descriptor, "wb", closefd=False) as file:
        for number in numbers:
            picture = BytesIO()
            try:
                pyplot.figure(number).savefig(picture, format="png", bbox_inches="tight")  # type: ignore[union-attr]
            except Exception as error:  # drawing runs the code's own objects
                _report(error)
                continue
            file.write(picture.tell().to_bytes(4, "big") + picture.getvalue())


def _report(error: BaseException) -> None:
    sys.stdout.flush()
    own = error.__traceback__
    while own is not None and own.tb_frame.f_code.co_filename == __file__:
        own = own.tb_next
    # A syntax error has no frame of the code; what is left then is the compiler's.
    frames = None if isinstance(error, SyntaxError) and error.filename == FILE_NAME else own
    traceback.print_exception(type(error), error, frames)


def main(figures: int | None = None) -> None:
    """Read the code from standard input, and leave nothing of it there; `figures` is the descriptor for figures."""
    source = sys.stdin.buffer.read().decode()
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.argv = [""]
    sys.path[0] = ""
    try:
        run(source)
    finally:
        if figures is not None:
            save_figures(figures)


if __name__ == "__main__":
    place = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""  # noqa: PTH100 - pathlib is not loaded
    try:
        main()
    finally:
        if place:
            save_figures_in(place)
