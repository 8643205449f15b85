"""Contexts of A2A as threads of clew: one for each owner and context, with one unfinished task at a time."""

from __future__ import annotations

from hashlib import sha256

from a2a.server.agent_execution import RequestContext, SimpleRequestContextBuilder
from a2a.server.context import ServerCallContext
from a2a.server.tasks import TaskStore
from a2a.types import ListTasksRequest, Message, Role, SendMessageRequest, Task, TaskState
from a2a.utils.errors import UnsupportedOperationError

from .messages import answers_to, task_messages
from .threads import Threads

UNFINISHED = (
    TaskState.TASK_STATE_SUBMITTED,
    TaskState.TASK_STATE_WORKING,
    TaskState.TASK_STATE_INPUT_REQUIRED,
    TaskState.TASK_STATE_AUTH_REQUIRED,
)
"""States of a task that is not over."""


def thread_of(owner: str, context: str) -> str:
    """Id of the thread of a context. Owners cannot reach each other's threads by using each other's context ids."""
    digest = sha256(f"{len(owner)}:{owner}{context}".encode()).hexdigest()
    return f"a2a-{digest[:24]}"


class ContextBuilder(SimpleRequestContextBuilder):
    """Puts a message that names only its task into the task's context, and keeps a context to one task at a time.

    What is wrong with a message is said here, where its task does not suffer from it.
    """

    def __init__(self, tasks: TaskStore, threads: Threads) -> None:
        super().__init__()
        self._tasks = tasks
        self._threads = threads

    async def build(
        self,
        context: ServerCallContext,
        params: SendMessageRequest | None = None,
        task_id: str | None = None,
        context_id: str | None = None,
        task: Task | None = None,
    ) -> RequestContext:
        """The context of one request.

        Raises:
            UnsupportedOperationError: the message is for a new task, and another one of its context is unfinished.
            InvalidParamsError: the message is empty, or does not say which question it answers.
            ContentTypeNotSupportedError: it has a file that no model can read.
        """
        if task_id is None and context_id is not None and (other := await self._unfinished(context_id, context)):
            state = TaskState.Name(other.status.state)
            advice = "send its answer with its taskId, cancel it, or begin another context"
            raise UnsupportedOperationError(f"task {other.id} of context {context_id} is {state}: {advice}")
        if task_id is not None and context_id is None and (named := await self._tasks.get(task_id, context)):
            context_id = named.context_id
        if params is not None and params.message.role == Role.ROLE_USER:
            await self._check(params.message, thread_of(context.user.user_name, context_id or ""), task_id)
        return await super().build(context, params, task_id, context_id, task)

    async def _check(self, message: Message, thread: str, task_id: str | None) -> None:
        questions = (await self._threads.view(thread)).questions if task_id else []
        if questions:
            answers_to(questions, message)
        else:
            task_messages(message)

    async def _unfinished(self, context_id: str, context: ServerCallContext) -> Task | None:
        for state in UNFINISHED:
            asked = ListTasksRequest(context_id=context_id, status=state, page_size=1)
            tasks: list[Task] = list((await self._tasks.list(asked, context)).tasks)
            if tasks:
                return tasks[0]
        return None
