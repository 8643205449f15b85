"""Work that a person can stop from outside while it runs."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.runnables import RunnableConfig

from ..checkpoints.inbox import Inbox
from ..state.errors import CheckpointError
from ..state.inbox import InboxPlace
from .once import run_saver

LOOK_SECONDS = 0.5
"""Seconds between two looks into the inbox. Work that takes less costs no look at all."""


class Stopped(Exception):
    """A person stopped the run; the work was cancelled."""

    def __init__(self, number: int) -> None:
        super().__init__("stopped")
        self.number = number
        """Number of the stop in the inbox."""


@asynccontextmanager
async def stoppable(config: RunnableConfig, place: InboxPlace | None) -> AsyncIterator[None]:
    """Cancel the body when a stop comes, which has not been obeyed up to `place`.

    Raises:
        Stopped: it came.
    """
    saver, thread = run_saver(config), config.get("configurable", {}).get("thread_id")
    body = asyncio.current_task()
    if saver is None or thread is None or place is None or body is None:
        yield
        return
    watch = _Watch(Inbox(saver), str(thread), place["orders"], body)
    try:
        yield
    except asyncio.CancelledError:
        if not watch.stopped:
            raise
        body.uncancel()
        raise Stopped(watch.stopped) from None
    finally:
        watch.end()


class _Watch:
    def __init__(self, inbox: Inbox, thread: str, after: int, body: asyncio.Task[object]) -> None:
        self.stopped = 0
        self._inbox, self._thread, self._after, self._body = inbox, thread, after, body
        self._task: asyncio.Task[None] | None = None
        # A timer costs next to nothing, and most work is over before it rings.
        self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._begin)

    def end(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._look(), context=contextvars.Context())

    async def _look(self) -> None:
        if number := await self._stop():
            self.stopped = number
            self._body.cancel()
        else:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._begin)

    async def _stop(self) -> int:
        try:
            return await self._inbox.stop_after(self._thread, self._after)
        except CheckpointError:
            return 0  # a busy database is looked at again
