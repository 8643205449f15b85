"""Runs a graph for an A2A server: each message begins a task, answers it, or takes it up after a crash."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, Part, Role, Task, TaskState, TaskStatus
from a2a.utils.errors import A2AError
from langgraph.types import Command

from ...state.errors import ThreadBusy
from ...state.stream import Event, ThinkEvent
from ..drive import Stop
from ..view import ThreadView
from .contexts import thread_of
from .messages import answers_to, question_parts, task_messages, task_text
from .threads import Threads

LOGGER = logging.getLogger("clew.a2a")

STATES: dict[str, TaskState] = {
    "finished": TaskState.TASK_STATE_COMPLETED,
    "rejected": TaskState.TASK_STATE_REJECTED,
    "cancelled": TaskState.TASK_STATE_CANCELED,
    "limit": TaskState.TASK_STATE_FAILED,
    "stuck": TaskState.TASK_STATE_FAILED,
    "error": TaskState.TASK_STATE_FAILED,
}
"""State of the A2A task for each end of a run."""

LONGEST_REMARK = 500
"""Characters of what the agent says between its steps that a caller is sent."""


@dataclass
class _Run:
    """A graph that runs for a task."""

    stop: Stop = field(default_factory=Stop)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class GraphExecutor(AgentExecutor):
    """Runs a graph on the thread of each task's context. What an exception says stays in the log."""

    def __init__(self, threads: Threads) -> None:
        self._threads = threads
        self._runs: dict[str, _Run] = {}
        self._continuing: set[str] = set()

    def continuing(self, message_id: str) -> None:
        """Let a message of the server itself take its task up where a crash left it."""
        self._continuing.add(message_id)

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Run the graph until it ends or asks; the task is told what happens."""
        updater = _updater(context, event_queue)
        run = self._runs[updater.task_id] = _Run()
        try:
            await self._execute(context, updater, run.stop)
        except A2AError:
            raise
        except ThreadBusy:
            await _fail(updater, "the context is at work elsewhere: try again when its task is over")
        except Exception:  # strangers get no text of an exception; the log has it
            LOGGER.exception("task %s failed", updater.task_id)
            await _fail(updater, _hidden(updater))
        finally:
            del self._runs[updater.task_id]
            run.ended.set()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Stop the graph, with the tool that runs, and end the task on its thread too."""
        updater = _updater(context, event_queue)
        if run := self._runs.get(updater.task_id):
            run.stop.request()
            run.stop.request()
            await run.ended.wait()
        await self._threads.cancel(_thread(context))
        await updater.cancel()

    async def clear(self, owner: str, task: Task) -> None:
        """End on its thread what a cancelled task left there: the question of one that nobody has run since a start."""
        await self._threads.cancel(thread_of(owner, task.context_id))

    async def _execute(self, context: RequestContext, updater: TaskUpdater, stop: Stop) -> None:
        task, message, thread = context.current_task, context.message or Message(), _thread(context)
        view = await self._threads.view(thread)
        continued = message.message_id in self._continuing
        self._continuing.discard(message.message_id)
        input: Any
        if task is None:
            input = task_messages(message)
            await updater.event_queue.enqueue_event(_new_task(updater, message))
        elif continued:
            input = None if view.checkpoint else task_messages(_first(task))
        elif view.questions:
            input = Command(resume=answers_to(view.questions, message))
        else:
            input = task_messages(message)
        if not continued or view.unfinished or not view.checkpoint:
            await updater.start_work()
            await self._relay(self._threads.drive(thread, input, "" if task else task_text(message), stop), updater)
        if not stop.requested:
            await _tell(updater, await self._threads.view(thread))

    async def _relay(self, events: AsyncGenerator[Event, None], updater: TaskUpdater) -> None:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, ThinkEvent):
                    await updater.start_work(updater.new_agent_message([Part(text=_remark(event))]))


def _updater(context: RequestContext, event_queue: EventQueue) -> TaskUpdater:
    task = context.current_task
    return TaskUpdater(event_queue, context.task_id or "", (task.context_id if task else context.context_id) or "")


def _thread(context: RequestContext) -> str:
    task = context.current_task
    owner = context.call_context.user.user_name
    return thread_of(owner, (task.context_id if task else context.context_id) or "")


def _new_task(updater: TaskUpdater, message: Message) -> Task:
    status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
    return Task(id=updater.task_id, context_id=updater.context_id, status=status, history=[message])


def _first(task: Task) -> Message:
    return next((message for message in task.history if message.role == Role.ROLE_USER), Message())


def _remark(event: ThinkEvent) -> str:
    names = ", ".join(call.name for call in event.tool_calls)
    return (event.text or (f"uses {names}" if names else "thinks"))[:LONGEST_REMARK]


async def _fail(updater: TaskUpdater, sentence: str) -> None:
    await updater.failed(updater.new_agent_message([Part(text=sentence)]))


def _hidden(updater: TaskUpdater) -> str:
    return f"the run failed; the server's log says why, under task {updater.task_id}"


async def _tell(updater: TaskUpdater, view: ThreadView) -> None:
    """Tell the task how the run ended, or what it asks."""
    if view.questions:
        await updater.requires_input(updater.new_agent_message(question_parts(view.questions)))
        return
    if view.status not in STATES or view.status == "error":
        LOGGER.error("task %s ended as %s: %s", updater.task_id, view.status, view.reason)
        await _fail(updater, _hidden(updater))
        return
    if view.answer:
        await updater.add_artifact([Part(text=view.answer)], name="answer", last_chunk=True)
    gave_up = view.status == "finished" and not view.success
    state = TaskState.TASK_STATE_FAILED if gave_up else STATES[view.status]
    words = view.answer if view.status == "finished" else f"{view.status}: {view.reason}"
    await updater.update_status(state, updater.new_agent_message([Part(text=words)]) if words else None)
