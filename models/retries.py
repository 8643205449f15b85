"""Further tries of model calls, for whoever counts them around the calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_RETRIES: ContextVar[list[str] | None] = ContextVar("clew_retries", default=None)


@contextmanager
def counting_retries() -> Iterator[list[str]]:
    """The failures after which calls were tried again meanwhile, in this task and those that it begins."""
    found: list[str] = []
    token = _RETRIES.set(found)
    try:
        yield found
    finally:
        _RETRIES.reset(token)


def note_retry(failure: str) -> None:
    """Say that a call is to be tried again."""
    if (found := _RETRIES.get()) is not None:
        found.append(failure)
