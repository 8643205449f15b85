"""Push notifications go to who asked for them, and nowhere inside."""

from __future__ import annotations

import asyncio
import json

import pytest
from a2a.types import (
    AuthenticationInfo,
    DeleteTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    SendMessageConfiguration,
    SendMessageRequest,
    TaskPushNotificationConfig,
)
from a2a.utils.errors import InvalidParamsError
from a2a_peer import listening, message, send_for_task, state
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from clew.state.serving import ServeSettings


class Listener:
    def __init__(self):
        self.told = []
        self.completed = asyncio.Event()

    async def hear(self, request: Request) -> Response:
        body = json.loads(await request.body())
        self.told.append((request.headers, body))
        if body.get("statusUpdate", {}).get("status", {}).get("state") == "TASK_STATE_COMPLETED":
            self.completed.set()
        return Response(status_code=204)


@pytest.fixture
async def listener():
    listener = Listener()
    async with listening(Starlette(routes=[Route("/told", listener.hear, methods=["POST"])])) as url:
        listener.url = f"{url}/told"
        yield listener


async def test_a_caller_is_told_of_its_task(serve, listener):
    allowed = ServeSettings(push_hosts=["127.0.0.1"])
    async with serve(serve=allowed) as served, served.client(streaming=False) as client:
        hook = TaskPushNotificationConfig(
            url=listener.url, token="a-token", authentication=AuthenticationInfo(scheme="Bearer", credentials="a-key")
        )
        configuration = SendMessageConfiguration(task_push_notification_config=hook)
        request = SendMessageRequest(message=message("hello"), configuration=configuration)
        (response,) = [each async for each in client.send_message(request)]
        assert state(response.task) == "completed"
        async with asyncio.timeout(60):
            await listener.completed.wait()
    headers, _ = listener.told[-1]
    assert (headers["x-a2a-notification-token"], headers["authorization"]) == ("a-token", "Bearer a-key")


async def test_hooks_can_be_listed_and_taken_back(serve, listener):
    allowed = ServeSettings(push_hosts=["127.0.0.1"])
    async with serve(serve=allowed) as served, served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
        hook = TaskPushNotificationConfig(task_id=task.id, id="mine", url=listener.url)
        await client.create_task_push_notification_config(hook)
        listing = ListTaskPushNotificationConfigsRequest(task_id=task.id)
        listed = await client.list_task_push_notification_configs(listing)
        assert [config.id for config in listed.configs] == ["mine"]
        await client.delete_task_push_notification_config(
            DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
        )
        assert not (await client.list_task_push_notification_configs(listing)).configs


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://[::1]/", "file:///etc/passwd", "http://:1"]
)
async def test_a_hook_into_the_servers_own_network_is_refused(served, url):
    async with served.client(streaming=False) as client:
        task = await send_for_task(client, message("ask me"))
        with pytest.raises(InvalidParamsError, match="Invalid push notification URL"):
            await client.create_task_push_notification_config(TaskPushNotificationConfig(task_id=task.id, url=url))
