"""The A2A server: JSON-RPC at `/`, REST beside it, and the card, over one executor."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    Task,
    TaskState,
)
from a2a.utils.constants import AGENT_CARD_WELL_KNOWN_PATH
from starlette.applications import Starlette

from ...state.settings import Settings
from .contexts import ContextBuilder
from .executor import GraphExecutor
from .push import open_sender
from .stores import Stores, open_stores
from .threads import Threads

LOGGER = logging.getLogger("clew.a2a")

PORT = 10000
"""Port of the seed's server."""

PUBLIC = (AGENT_CARD_WELL_KNOWN_PATH,)
"""Paths that strangers may read."""

AT_WORK = (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING)
"""States in which a task is run."""

RESUMED = "The server was started again; the task goes on."


class RequestHandler(DefaultRequestHandler):
    """The SDK's handler, which also ends on its thread what a task that is cancelled while it waits left there."""

    agent_executor: GraphExecutor

    async def on_cancel_task(self, params: CancelTaskRequest, context: ServerCallContext) -> Task | None:
        """Cancel a task and what its thread asks."""
        task: Task | None = await super().on_cancel_task(params, context)
        if task is not None:
            await self.agent_executor.clear(context.user.user_name, task)
        return task


@asynccontextmanager
async def open_app(threads: Threads, card: AgentCard, settings: Settings) -> AsyncIterator[Starlette]:
    """The app of a graph, with its stores open; the tasks that an earlier process left at work go on.

    Args:
        threads: The graph.
        card: What is told of it.
        settings: Where tasks are kept, and who may be told of them.
    """
    async with (
        open_stores(settings) as stores,
        open_sender(stores.pushes, settings.serve.push_hosts) as (sender, check),
    ):
        executor = GraphExecutor(threads)
        handler = RequestHandler(
            executor,
            stores.tasks,
            card,
            push_config_store=stores.pushes,
            push_sender=sender,
            push_url_validator=check,
            request_context_builder=ContextBuilder(stores.tasks, threads),
        )
        resuming = asyncio.create_task(_resume_all(handler, executor, stores))
        try:
            yield Starlette(
                routes=[
                    *create_agent_card_routes(card),
                    *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
                    *create_rest_routes(handler, enable_v0_3_compat=True),
                ]
            )
        finally:
            resuming.cancel()
            # The stores must not close under a query that is being cancelled: its connection would never end.
            await asyncio.wait({resuming})
            await handler.aclose()


async def _resume_all(handler: RequestHandler, executor: GraphExecutor, stores: Stores) -> None:
    """Take up every task that a crash cut off: nobody else would, and its caller waits."""
    for context, task in await stores.unfinished():
        if task.status.state in AT_WORK:
            try:
                await _resume(handler, executor, context, task)
            except Exception:  # one task that cannot go on does not keep the others from it
                LOGGER.exception("task %s cannot be taken up", task.id)


async def _resume(handler: RequestHandler, executor: GraphExecutor, context: ServerCallContext, task: Task) -> None:
    message = Message(
        message_id=uuid4().hex,
        task_id=task.id,
        context_id=task.context_id,
        role=Role.ROLE_AGENT,
        parts=[Part(text=RESUMED)],
    )
    executor.continuing(message.message_id)
    at_once = SendMessageConfiguration(return_immediately=True)
    await handler.on_message_send(SendMessageRequest(message=message, configuration=at_once), context)
