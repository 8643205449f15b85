"""Pause, stop and say: what a person asks of a thread from another terminal than the one that runs it."""

from __future__ import annotations

from ..checkpoints.inbox import Inbox, OrderKind
from ..state.errors import UsageError
from ..state.inbox import inbox_start
from ..state.notices import NoticeEvent
from ..state.outcome import ENDED
from ..state.thread import ThreadRecord
from .session import Session
from .view import ThreadView

RUNNING = {
    "pause": "pauses at its next gate",
    "stop": "stops at its next gate; a call of a tool that runs is cancelled",
    "say": "gives it to its agent before the next think",
}
"""What a process that runs the thread does."""

KEPT = {
    "pause": "pauses at the first gate of its next run",
    "say": "gives it to its agent in its next run",
}
"""What the next process that runs the thread does."""


async def ask_thread(session: Session, thread: str, kind: OrderKind, text: str = "") -> str:
    """Ask something of a thread, and return what becomes of it.

    Whoever runs the thread acts on it. On a thread that nobody runs, a stop ends the task at once, and anything else
    is kept for its next run.

    Raises:
        UsageError: there is no such thread, its task has ended or not begun, or it is paused already.
        ThreadBusy: another process took the thread while it was being stopped.
    """
    record = await session.registry.get(thread)
    view = await session.view(record)
    _refuse(view, kind)
    running = view.status == "running"
    if kind == "stop" and not running:
        async with session.registry.lease(thread, "clew stop"):
            events = await session.end_task(record)
        notices = [event.text for event in events if isinstance(event, NoticeEvent)]
        return "\n".join([f"thread {thread} is stopped", *notices])
    place = (await session.values(record)).get("progress", {}).get("inbox", inbox_start())
    await Inbox(session.saver).send(thread, kind, text, after=max(place["words"], place["orders"]))
    if running and (ended := await _ended_meanwhile(session, record)):
        # The run clears the inbox at its end; this may have come after that.
        await Inbox(session.saver).clear_orders(thread)
        _refuse(ended, kind)
    return f"thread {thread} {RUNNING[kind]}" if running else f"nobody runs thread {thread}: it {KEPT[kind]}"


def _refuse(view: ThreadView, kind: OrderKind) -> None:
    if view.status in ENDED:
        again = f'`clew run "…" --thread {view.thread}` gives it another one'
        raise UsageError(f"the task of thread {view.thread} has ended ({view.status}): {again}")
    if view.status != "running" and not view.checkpoint:
        raise UsageError(f"thread {view.thread} has not begun: `clew resume {view.thread}` begins it")
    if kind == "pause" and any(question.kind == "paused" for question in view.questions):
        raise UsageError(f"thread {view.thread} is paused: `clew resume {view.thread}` goes on with it")


async def _ended_meanwhile(session: Session, record: ThreadRecord) -> ThreadView | None:
    view = await session.view(record)
    return view if view.status in ENDED else None
