"""Ctrl-C and termination while a run goes on."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def on_stop(stop: Callable[[], object]) -> Iterator[None]:
    """Call `stop` on the first and on the second Ctrl-C or SIGTERM; a third one kills the process as ever."""
    loop, received = asyncio.get_running_loop(), 0

    def handle() -> None:
        nonlocal received
        received += 1
        if received == 2:
            _remove(loop)
        stop()

    for number in STOPPING:
        loop.add_signal_handler(number, handle)
    try:
        yield
    finally:
        _remove(loop)


def _remove(loop: asyncio.AbstractEventLoop) -> None:
    for number in STOPPING:
        loop.remove_signal_handler(number)
