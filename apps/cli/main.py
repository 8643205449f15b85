"""The entry point of `clew`. Until a command is chosen it imports nothing but argparse."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

from .arguments import build_parser
from .exit_codes import INTERRUPTED, USAGE


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; errors of clew are one line on stderr."""
    _let_any_text_through()
    parser = build_parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    try:
        _tell_of_unread_variables()
        code: int = import_module(f".{arguments.command}", __package__).run(arguments)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has gone; Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # a person gets one line, whatever it is
        if arguments.debug:
            raise
        return _report(error)


def _let_any_text_through() -> None:
    # Models and tools say what the terminal's encoding may not have.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _tell_of_unread_variables() -> None:
    named = [name for name in os.environ if name.upper().startswith("CLEW_")]
    if not named:
        return
    from ..variables import unread_notice

    if notice := unread_notice(named):
        print(f"clew: {notice}", file=sys.stderr, flush=True)


def _report(error: Exception) -> int:
    from ...state.errors import ClewError

    sentence = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ClewError):
        print(f"clew: {sentence}", file=sys.stderr)
        return error.exit_code
    print(f"clew: {type(error).__name__}: {sentence} (--debug shows where)", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
