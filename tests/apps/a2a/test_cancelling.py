"""`cancel` really cancels: the tool that runs, and the question that waits."""

from __future__ import annotations

import asyncio

import psutil
import pytest
from a2a.types import CancelTaskRequest, GetTaskRequest, SubscribeToTaskRequest
from a2a.utils.errors import TaskNotCancelableError
from a2a_peer import message, said, send_for_task, state


def sleeping() -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if each.name() == "sleep"]


async def begun(served, client):
    """A task whose shell sleeps."""
    task = await send_for_task(client, message("wait for ever"), at_once=True)
    async with asyncio.timeout(60):
        while not sleeping():  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return task


async def test_a_running_tool_is_stopped(served):
    async with served.client(streaming=False) as client:
        task = await begun(served, client)
        assert state(await client.cancel_task(CancelTaskRequest(id=task.id))) == "canceled"
        async with asyncio.timeout(60):
            while sleeping():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        (record,) = await served.session.registry.list()
        assert (await served.session.view(record)).status == "cancelled"
        with pytest.raises(TaskNotCancelableError):
            await client.cancel_task(CancelTaskRequest(id=task.id))
        following = await send_for_task(client, message("hello", context=task.context_id))
        assert (state(following), said(following)) == ("completed", "Never.")


async def test_a_waiting_question_is_withdrawn(served):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
        assert state(await client.cancel_task(CancelTaskRequest(id=task.id))) == "canceled"
        (record,) = await served.session.registry.list()
        view = await served.session.view(record)
        assert (view.status, view.questions) == ("cancelled", [])
        assert state(await send_for_task(client, message("hello", context=task.context_id))) == "completed"


async def test_a_question_that_an_earlier_server_asked_is_withdrawn_too(serve):
    async with serve() as first, first.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
    async with serve() as second, second.client(streaming=False) as client:
        assert state(await client.get_task(GetTaskRequest(id=task.id))) == "input_required"
        assert state(await client.cancel_task(CancelTaskRequest(id=task.id))) == "canceled"
        (record,) = await second.session.registry.list()
        assert (await second.session.view(record)).questions == []


async def test_a_stream_can_be_taken_up_by_another_caller(served):
    async with served.client(streaming=False) as first_caller, served.client() as client:
        task = await begun(served, first_caller)
        events = client.subscribe(SubscribeToTaskRequest(id=task.id))
        first = await anext(events)
        assert (first.task.id, state(first.task)) == (task.id, "working")
        cancelled = asyncio.create_task(client.cancel_task(CancelTaskRequest(id=task.id)))
        states = [event.status_update.status.state async for event in events]
        assert state(await cancelled) == "canceled"
        assert states[-1] == (await client.get_task(GetTaskRequest(id=task.id))).status.state
