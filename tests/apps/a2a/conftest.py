from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from contextlib import asynccontextmanager

import httpx
import pytest
from a2a_peer import client_of, listening, url_of

from clew.apps.a2a.card import agent_card
from clew.apps.a2a.server import PUBLIC, open_app
from clew.apps.a2a.threads import AgentThreads
from clew.apps.serving.protected import protected
from clew.apps.session import open_session
from clew.graphs import AGENTS
from clew.state.settings import Settings


def call(name, **arguments):
    return {"content": f"I use {name}.", "tool_calls": [{"name": name, "args": arguments}]}


SCRIPTS = [
    {
        "name": "ask",
        "match": "^ask me$",
        "replies": [call("ask_human", inquire="Which colour?"), "You said so.", "And more."],
    },
    {
        "name": "ask_twice",
        "match": "^ask twice$",
        "replies": [
            {
                "tool_calls": [
                    {"name": "ask_human", "args": {"inquire": "First?"}},
                    {"name": "ask_human", "args": {"inquire": "Second?"}},
                ]
            },
            "Both are known.",
        ],
    },
    {
        "name": "give_up",
        "match": "^give up$",
        "replies": [call("terminate", status="failure", answer="It cannot be done.")],
    },
    {
        "name": "wait",
        "match": "^wait for ever$",
        "replies": [call("bash", command="echo begun > begun; sleep 600"), "Never."],
    },
    {
        "name": "doze",
        "match": "doze off",
        "replies": [call("bash", command="sleep 600"), "Awake."],
    },
    {
        "name": "fail",
        "match": "^fail$",
        "replies": [{"error": {"status": 400, "message": "the secret of the provider"}}],
    },
    {
        "name": "work",
        "match": "^work$",
        "replies": [call("bash", command="echo clew >> made; cat made"), "It is made."],
    },
    {"name": "talk", "replies": ["First answer.", "Second answer.", "Third answer."]},
]


class Served:
    def __init__(self, url, settings, session):
        self.url, self.settings, self.session = url, settings, session

    def client(self, **options):
        return client_of(self.url, **options)


@pytest.fixture
def settings(tmp_path):
    (tmp_path / "script.json").write_text(json.dumps({"scripts": SCRIPTS}))
    return Settings(home=tmp_path / "home", model=f"script:{tmp_path / 'script.json'}", db=str(tmp_path / "clew.db"))


@pytest.fixture
def serve(settings):
    """Serve an agent as `clew serve a2a` does, on settings that may be changed."""

    @asynccontextmanager
    async def serve(agent="manus", threads=None, port=0, **changes):
        changed = settings.model_copy(update=changes)
        sock = socket.create_server(("127.0.0.1", port))
        card = agent_card(AGENTS[agent], url_of(sock), keys=bool(changed.serve.keys))
        async with open_session(changed) as session:
            running = threads or AgentThreads(session, AGENTS[agent])
            async with (
                open_app(running, card, changed) as app,
                listening(protected(app, changed.serve, "127.0.0.1", PUBLIC), sock) as url,
            ):
                yield Served(url, changed, session)

    return serve


@pytest.fixture
async def served(serve):
    async with serve() as served:
        yield served


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@pytest.fixture
def port():
    return free_port()


@pytest.fixture
def start(tmp_path, port):
    """Start `clew serve a2a` in a process of its own."""
    slow = {"content": "I wait.", "tool_calls": [{"name": "bash", "args": {"command": f"echo x >> {tmp_path}/begun"}}]}
    script = {
        "scripts": [
            {
                "name": "ask",
                "match": "^ask me$",
                "replies": [{"tool_calls": [{"name": "ask_human", "args": {"inquire": "Which?"}}]}, "Thanks."],
            },
            {"name": "talk", "replies": [slow, {"content": "Done.", "delay": 3}]},
        ]
    }
    (tmp_path / "script.json").write_text(json.dumps(script))
    environment = {
        **os.environ,
        "CLEW_HOME": str(tmp_path / "home"),
        "CLEW_SANDBOX__BACKEND": "local",
        "CLEW_CONFIRM": "never",
    }

    @asynccontextmanager
    async def start():
        command = [sys.executable, "-m", "clew.apps.cli.main", "serve", "a2a", "--port", str(port)]
        process = await asyncio.create_subprocess_exec(
            *command,
            "--model",
            f"script:{tmp_path / 'script.json'}",
            cwd=tmp_path,
            env=environment,
            stderr=asyncio.subprocess.PIPE,
        )
        url = f"http://127.0.0.1:{port}"
        try:
            await answering(url)
            yield process, url
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.communicate()

    return start


async def answering(url):
    async with asyncio.timeout(60), httpx.AsyncClient() as http:
        while True:
            try:
                await http.get(f"{url}/.well-known/agent-card.json")
                return
            except httpx.TransportError:
                await asyncio.sleep(0.05)
