"""What stands around every server: keys, Host and Origin, and a bound on the body."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from clew.apps.serving.protected import protected
from clew.state.errors import UsageError
from clew.state.serving import ServeSettings

KEYS = ServeSettings(keys={"ariadne": SecretStr("a-key"), "theseus": SecretStr("b-key")}, max_body_bytes=100)


async def say_who(request: Request) -> PlainTextResponse:
    caller = request.user.display_name if "user" in request.scope else "nobody"
    return PlainTextResponse(f"{caller} sent {len(await request.body())}")


def client(settings: ServeSettings, host: str = "127.0.0.1") -> httpx.AsyncClient:
    app = Starlette(routes=[Route("/", say_who, methods=["POST"]), Route("/card", say_who, methods=["POST"])])
    transport = httpx.ASGITransport(protected(app, settings, host, public=["/card"]))
    return httpx.AsyncClient(transport=transport, base_url=f"http://{host}:10000")


async def test_without_keys_this_machine_is_one_caller():
    async with client(ServeSettings()) as http:
        assert (await http.post("/")).text == "local sent 0"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "agents.example"])
def test_an_open_address_without_keys_is_refused(host):
    with pytest.raises(UsageError, match="no caller has a key"):
        protected(Starlette(), ServeSettings(), host)


@pytest.mark.parametrize(
    ("headers", "caller"),
    [
        ({"Authorization": "Bearer a-key"}, "ariadne"),
        ({"authorization": "bearer b-key"}, "theseus"),
        ({"X-API-Key": "b-key"}, "theseus"),
    ],
)
async def test_a_key_names_its_caller(headers, caller):
    async with client(KEYS) as http:
        assert (await http.post("/", headers=headers)).text == f"{caller} sent 0"


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer c-key"}, {"X-API-Key": ""}, {"Authorization": "Basic a-key"}]
)
async def test_without_a_right_key_only_public_paths_answer(headers):
    async with client(KEYS) as http:
        refused = await http.post("/", headers=headers)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="clew"')
        assert (await http.post("/card", headers=headers)).text == "nobody sent 0"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "127.0.0.1:10000"}, 200),
        ({"Host": "localhost:10000"}, 200),
        ({"Host": "[::1]:10000"}, 200),
        ({"Host": "rebound.example"}, 421),
        ({"Host": ""}, 421),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Origin": "https://pages.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_only_its_own_host_and_origin_reach_a_local_server(headers, status):
    async with client(ServeSettings()) as http:
        assert (await http.post("/", headers=headers)).status_code == status


async def test_hosts_and_origins_of_the_settings_reach_it_too():
    open_to = ServeSettings(allowed_hosts=["agents.example"], allowed_origins=["https://pages.example"])
    async with client(open_to) as http:
        headers = {"Host": "agents.example", "Origin": "https://pages.example"}
        assert (await http.post("/", headers=headers)).status_code == 200


async def pieces(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * 50


async def test_a_body_over_the_limit_is_refused_announced_or_not():
    async with client(KEYS) as http:
        key = {"X-API-Key": "a-key"}
        assert (await http.post("/", content=b"x" * 100, headers=key)).text == "ariadne sent 100"
        assert (await http.post("/", content=pieces(2), headers=key)).text == "ariadne sent 100"
        assert (await http.post("/", content=b"x" * 101, headers=key)).status_code == 413
        assert (await http.post("/", content=pieces(3), headers=key)).status_code == 413
