"""Runs a thread for a person: shows what happens, asks what it asks, and says at the end how to go on."""

from __future__ import annotations

import asyncio
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from typing import Any

from langgraph.types import Command

from ...state.stream import EndEvent, Event, QuestionEvent, StartEvent
from ...state.thread import ThreadRecord
from ..drive import Stop, end_event
from ..session import PLAN, Session
from ..told import uncontained_notice
from ..view import ThreadView
from .ask import ask_all
from .closing import closing_lines
from .exit_codes import INTERRUPTED, exit_code
from .reporters import make_reporter
from .signals import on_stop


class Conversation:
    """One command's way with a thread, from its first event to its exit code."""

    def __init__(self, session: Session, record: ThreadRecord, arguments: Namespace) -> None:
        self._session = session
        self._record = record
        self._arguments = arguments
        self._reporter = make_reporter(json=arguments.json)
        self._asked: list[str] = []
        self._seen: ThreadView | None = None
        self._stopped = False

    async def run(self, input: Any, seen: ThreadView | None = None) -> int:
        """Drive the thread until it ends, or waits for somebody who is not here.

        Args:
            input: As `drive` takes it.
            seen: Where the thread stood when the input was settled.

        Raises:
            ThreadBusy: another process runs the thread, or took it further since it was seen.
            Exception: what the graph raised, once the end is told.
        """
        self._seen = seen
        try:
            return await self._settle(await self._drive(input))
        finally:
            self._reporter.close()

    async def stand(self, view: ThreadView) -> int:
        """Take up a thread that waits for answers or has ended, without driving it first."""
        try:
            for question in view.questions:
                self._show(question)
            values = await self._session.values(self._record) if self._record.graph == PLAN else {}
            return await self._settle(end_event(view, plan=values.get("plan")))
        finally:
            self._reporter.close()

    async def _settle(self, end: EndEvent) -> int:
        while (questions := await self._questions(end)) and self._asks:
            answers = await self._ask(questions)
            if not answers:
                break
            end = await self._drive(Command(resume=answers))
        await self._close(end)
        if self._stopped and end.status == "waiting":
            return INTERRUPTED
        return exit_code(end.status, end.success)

    async def _drive(self, input: Any) -> EndEvent:
        stop, end = Stop(), None
        with on_stop(lambda: self._request(stop)), self._time_limit(stop):
            try:
                events = self._session.drive(
                    self._record,
                    input,
                    owner=f"clew {self._arguments.command}",
                    seen=self._seen,
                    stop=stop,
                    tokens=self._reporter.tokens,
                    recording=self._arguments.record,
                )
                async with aclosing(events):
                    async for event in events:
                        if isinstance(event, EndEvent):
                            end = event
                        else:
                            self._show(event)
                        if isinstance(event, StartEvent):
                            await self._warn(event)
            except Exception:
                if end is not None:
                    await self._close(end)
                raise
        assert end is not None, "the last event of a run is its end"
        return end

    def _show(self, event: Event) -> None:
        if isinstance(event, QuestionEvent):
            self._asked.append(event.id)
        self._reporter.show(event)

    async def _warn(self, start: StartEvent) -> None:
        notice = await asyncio.to_thread(uncontained_notice, self._session.settings.home, start.sandbox)
        if notice:
            self._reporter.note(notice)

    def _request(self, stop: Stop) -> None:
        if not stop.requested:
            self._reporter.note("stopping after this step; Ctrl-C again cancels it")
        self._stopped = True
        stop.request()

    @contextmanager
    def _time_limit(self, stop: Stop) -> Iterator[None]:
        seconds = self._session.settings.runflow.timeout if self._record.graph == PLAN else None
        timer = asyncio.get_running_loop().call_later(seconds, stop.request) if seconds else None
        try:
            yield
        finally:
            if timer:
                timer.cancel()

    @property
    def _asks(self) -> bool:
        somebody = self._reporter.interactive and sys.stdin.isatty()
        return somebody and not self._record.headless and not self._stopped

    async def _ask(self, questions: list[QuestionEvent]) -> dict[str, Any]:
        self._reporter.close()
        asking = asyncio.ensure_future(ask_all(questions, self._reporter))
        with on_stop(asking.cancel):
            await asyncio.wait({asking})
        self._stopped = asking.cancelled()
        return {} if self._stopped else asking.result()

    async def _questions(self, end: EndEvent) -> list[QuestionEvent]:
        """The open questions, in the order in which they were shown."""
        if end.status != "waiting":
            return []
        self._seen = await self._session.view(self._record)
        order = {identifier: place for place, identifier in enumerate(self._asked)}
        return sorted(self._seen.questions, key=lambda question: order.get(question.id, -1))

    async def _close(self, end: EndEvent) -> None:
        self._reporter.show(end)
        for line in await closing_lines(self._record, end, await self._questions(end), self._arguments):
            self._reporter.note(line)
