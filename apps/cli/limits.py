"""The limits of a run as flags, and what a person is told about them."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace

LIMIT_FLAGS = {
    "max_steps": "--max-steps",
    "max_calls": "--max-calls",
    "max_tokens": "--max-tokens",
    "max_cost": "--budget",
    "max_seconds": "--timeout",
}
"""The flag that sets each limit, by the name that records, contexts and reasons have for it."""


def add_limits(parser: ArgumentParser) -> None:
    """Add a flag for each kind of limit."""
    group = parser.add_argument_group("limits", "For all agents of the run together; a higher one goes on at a limit.")
    group.add_argument("--max-steps", type=positive, metavar="N", help="steps that the task may take in all")
    group.add_argument("--max-calls", type=positive, metavar="N", help="model calls")
    group.add_argument("--max-tokens", type=positive, metavar="N", help="input and output tokens together")
    group.add_argument("--budget", type=amount, metavar="COST", dest="max_cost", help="cost, by the [prices]")
    group.add_argument(
        "--timeout", type=amount, metavar="SECONDS", dest="max_seconds", help="time of work, waits for you left out"
    )


def given_limits(arguments: Namespace) -> dict[str, float]:
    """The limits that the flags set, by name."""
    given = {name: getattr(arguments, name, None) for name in LIMIT_FLAGS}
    return {name: value for name, value in given.items() if value is not None}


def flag_of(reason: str) -> str:
    """The flag that raises the limit which ended a run for that reason."""
    return LIMIT_FLAGS.get(reason, LIMIT_FLAGS["max_steps"])


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is no number of at least 1")
    return int(text)


def amount(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no number above 0")
    return number
