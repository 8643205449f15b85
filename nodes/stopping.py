"""Work that a person can stop from outside while it runs."""

from __future__ import annotations

import asyncio
import contextvars

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


class stoppable:
    """Cancels the body when a stop comes, which has not been obeyed up to `place`.

    Raises:
        Stopped: it came.
    """

    def __init__(self, config: RunnableConfig, place: InboxPlace | None) -> None:
        """Watch the inbox of the run's thread, if it has one."""
        self._config, self._place = config, place
        self._watch: _Watch | None = None

    async def __aenter__(self) -> None:
        """Begin to watch."""
        saver, thread = run_saver(self._config), self._config.get("configurable", {}).get("thread_id")
        body = asyncio.current_task()
        if saver is not None and thread is not None and self._place is not None and body is not None:
            self._watch = _Watch(Inbox(saver), str(thread), self._place["orders"], body)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Watch no more; a cancellation that was ours becomes `Stopped`."""
        if self._watch is None:
            return
        self._watch.end()
        if isinstance(error, asyncio.CancelledError) and self._watch.stopped:
            self._watch.body.uncancel()
            raise Stopped(self._watch.stopped) from None


class _Watch:
    def __init__(self, inbox: Inbox, thread: str, after: int, body: asyncio.Task[object]) -> None:
        self.stopped = 0
        self.body = body
        self._inbox, self._thread, self._after = inbox, thread, after
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
            self.body.cancel()
        else:
            self._timer = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._begin)

    async def _stop(self) -> int:
        try:
            return await self._inbox.stop_after(self._thread, self._after)
        except CheckpointError:
            return 0  # a busy database is looked at again
