"""Callers see only what is their own, and nobody without a key sees anything but the card."""

from __future__ import annotations

import httpx
import pytest
from a2a.types import CancelTaskRequest, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest
from a2a.utils.errors import TaskNotFoundError
from a2a_peer import message, said, send_for_task, state
from pydantic import SecretStr

from clew.apps.a2a.card import agent_card
from clew.state.serving import ServeSettings
from clew.state.spec import AgentSpec

KEYS = ServeSettings(keys={"ariadne": SecretStr("a-key-of-hers"), "theseus": SecretStr("a-key-of-his")})

REQUESTS = [
    ("POST", "/"),
    ("POST", "/message:send"),
    ("POST", "/v1/message:send"),
    ("GET", "/tasks"),
    ("GET", "/v1/card"),
]


@pytest.mark.parametrize(("method", "path"), REQUESTS)
async def test_every_binding_asks_for_a_key(serve, method, path):
    async with serve(serve=KEYS) as served, httpx.AsyncClient(base_url=served.url) as http:
        assert (await http.request(method, path)).status_code == 401


async def test_the_card_says_what_is_asked_for(serve):
    async with serve(serve=KEYS) as served, httpx.AsyncClient(base_url=served.url) as http:
        card = (await http.get("/.well-known/agent-card.json")).json()
    assert set(card["securitySchemes"]) == {"bearer", "key"}
    assert card["name"] == "Manus Agent"
    assert card["capabilities"] == {"streaming": True, "pushNotifications": True}


def test_the_skills_of_the_seed_keep_their_ids():
    tools = ("python_execute", "browser_use", "str_replace_editor", "ask_human", "terminate", "bash")
    card = agent_card(AgentSpec(name="manus", tools=tools), "http://127.0.0.1:10000", keys=False)
    ids = [skill.id for skill in card.skills]
    assert ids == ["Python Execute", "Browser use", "Replace String", "Ask human", "terminate", "bash"]
    assert not card.security_schemes


async def test_a_caller_reaches_no_task_and_no_thread_of_another(serve):
    async with (
        serve(serve=KEYS) as served,
        served.client(key="a-key-of-hers", streaming=False) as hers,
        served.client(key="a-key-of-his", streaming=False) as his,
        served.client(key="a-key-of-his") as his_stream,
    ):
        task = await send_for_task(hers, message("ask me"))
        for request in (
            his.get_task(GetTaskRequest(id=task.id)),
            his.cancel_task(CancelTaskRequest(id=task.id)),
            send_for_task(his, message("blue", task=task.id)),
            anext(his_stream.subscribe(SubscribeToTaskRequest(id=task.id))),
        ):
            with pytest.raises(TaskNotFoundError):
                await request
        assert not (await his.list_tasks(ListTasksRequest())).tasks
        # The same name of a context is another conversation.
        own = await send_for_task(his, message("hello", context=task.context_id))
        assert (state(own), said(own)) == ("completed", "First answer.")
        assert state(await send_for_task(hers, message("blue", task=task.id))) == "completed"


async def test_the_server_checks_the_host_and_bounds_the_body(serve):
    small = ServeSettings(max_body_bytes=1000)
    async with serve(serve=small) as served, httpx.AsyncClient(base_url=served.url) as http:
        assert (await http.get("/.well-known/agent-card.json", headers={"Host": "rebound.example"})).status_code == 421
        assert (await http.post("/", content=b"x" * 1001)).status_code == 413
