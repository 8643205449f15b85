from __future__ import annotations

import json
from contextlib import asynccontextmanager

import pytest
from a2a_peer import client_of, listening

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
    {"name": "ask", "match": "^ask me$", "replies": [call("ask_human", inquire="Which colour?"), "You said so."]},
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
    async def serve(agent="manus", threads=None, **changes):
        changed = settings.model_copy(update=changes)
        card = agent_card(AGENTS[agent], "http://127.0.0.1:10000", keys=bool(changed.serve.keys))
        async with open_session(changed) as session:
            running = threads or AgentThreads(session, AGENTS[agent])
            async with (
                open_app(running, card, changed) as app,
                listening(protected(app, changed.serve, "127.0.0.1", PUBLIC)) as url,
            ):
                yield Served(url, changed, session)

    return serve


@pytest.fixture
async def served(serve):
    async with serve() as served:
        yield served
