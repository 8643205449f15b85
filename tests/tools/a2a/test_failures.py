"""Agents elsewhere that are not what they should be: the sentence names the address and the fix."""

from __future__ import annotations

import socket

import pytest
from a2a.types import Part
from a2a_peer import listening, url_of
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from clew.state.errors import ToolFailure
from clew.tools.a2a import client
from clew.tools.a2a.client import open_remote

CARD = "/{kind}/.well-known/agent-card.json"


async def failure(address):
    with pytest.raises(ToolFailure) as caught:
        async with open_remote(address) as remote:
            await remote.submit([Part(text="hello")], "one-id", "", "")
    sentence = str(caught.value)
    assert "httpx" not in sentence
    assert "\n" not in sentence
    return sentence


def closed_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def card(url):
    interface = {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
    about = {"name": "maze", "description": "A maze.", "version": "1", "skills": [], "capabilities": {}}
    modes = {"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"]}
    return JSONResponse({**about, **modes, "supportedInterfaces": [interface]})


@pytest.fixture
async def address():
    elsewhere = f"http://127.0.0.1:{closed_port()}/agent"

    async def answer(request):
        kind = request.path_params["kind"]
        if kind == "moved":
            return card(elsewhere)
        return PlainTextResponse("words", status_code=int(kind))

    async with listening(Starlette(routes=[Route(CARD, answer)])) as url:
        yield url


async def test_one_that_does_not_run():
    address = f"http://127.0.0.1:{closed_port()}"
    advice = "see that it runs, and that the address is right"
    assert await failure(address) == f"the agent at {address} cannot be reached: {advice}"


async def test_one_that_says_nothing(monkeypatch):
    monkeypatch.setattr(client, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = url_of(silent)
        assert await failure(address) == f"the agent at {address} gives no answer: see whether it works"


async def test_one_without_tls_at_a_safe_address(address):
    safe = address.replace("http://", "https://")
    sentence = await failure(safe)
    assert sentence.startswith(f"no safe connection to the agent at {safe} (")
    assert sentence.endswith("mend its certificate, or write http:// if it has none")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (401, 'asks for another key (401): write it as `key` of a table [remotes.NAME] with url = "{}" in clew.toml'),
        (403, 'asks for another key (403): write it as `key` of a table [remotes.NAME] with url = "{}" in clew.toml'),
        (503, "fails (503): try again later, or look into its log"),
    ],
)
async def test_one_that_refuses_or_fails(address, code, sentence):
    own = f"{address}/{code}"
    assert await failure(own) == f"the agent at {own} {sentence.format(own)}"


async def test_an_address_at_which_there_is_none(address):
    assert await failure(f"{address}/404") == f"there is no agent at {address}/404 (404): check the address"
    assert await failure(f"{address}/200") == f"what is found at {address}/200 is no agent's card: check the address"


async def test_one_whose_card_leads_to_a_place_where_nobody_is(address):
    sentence = await failure(f"{address}/moved")
    assert sentence.startswith(f"the agent at {address}/moved cannot be reached at http://127.0.0.1:")
    assert ", as its card says: see that it runs" in sentence


async def test_one_that_has_a_card_and_then_fails():
    async def answer(request):
        return PlainTextResponse("words", status_code=502)

    sock = socket.create_server(("127.0.0.1", 0))
    url = url_of(sock)

    async def show(request):
        return card(f"{url}/agent")

    routes = [Route(CARD, show), Route("/agent", answer, methods=["POST"])]
    async with listening(Starlette(routes=routes), sock):
        assert await failure(f"{url}/x") == f"the agent at {url}/x fails (502): try again later, or look into its log"
