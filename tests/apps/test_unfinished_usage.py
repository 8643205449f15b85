"""What a thread shows of the usage of agents that have not ended below another one."""

import pytest
from langgraph.types import Command
from postgres_server import new_database, running_server

from clew.apps.view import thread_config, view_thread
from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools


def calls(*made):
    return {"tool_calls": [{"name": name, "args": args} for name, args in made]}


def delegation(agent):
    return "delegate", {"agent": agent, "task": "find out"}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.needs("initdb"))])
async def saver(request, tmp_path):
    if request.param == "sqlite":
        async with open_saver(tmp_path / "clew.db") as opened:
            yield opened
    else:
        with running_server() as server:
            async with open_saver(new_database(server)) as opened:
                yield opened


@pytest.fixture
def graph(saver, tmp_path):
    """Delegates to `left`, which delegates to `deepest`, which asks a person; and to `right`, which only answers."""
    graphs = {}

    def agent(name, *replies, delegates=()):
        def reply(messages, tools):
            return replies[sum(message.type == "ai" for message in messages)]

        graphs[name] = create_agent(
            AgentSpec(name=name, delegates=delegates),
            model=ScriptedModel(reply=reply),
            tools=build_tools(["ask_human"]),
            checkpointer=saver if name == "outermost" else None,
            settings=Settings(home=tmp_path),
            agents=graphs,
        )

    agent("deepest", calls(("ask_human", {"inquire": "Which way?"})), "To the left.")
    agent("left", calls(delegation("deepest")), "Left.", delegates=("deepest",))
    agent("right", "There is nothing.")
    agent("outermost", calls(delegation("left"), delegation("right")), "Done.", delegates=("left", "right"))
    return graphs["outermost"]


async def test_a_waiting_thread_counts_what_unfinished_delegates_at_every_depth_used_and_once(graph, saver):
    await graph.ainvoke({"messages": [("user", "go")]}, thread_config("t"), durability="sync")
    waiting = await view_thread(saver, "t")
    assert (waiting.status, waiting.reason) == ("waiting", "input")
    assert waiting.usage.llm_calls == 4  # outermost, left, deepest and right
    assert waiting.metrics.usage == waiting.usage
    await graph.ainvoke(Command(resume="left"), thread_config("t"), durability="sync")
    ended = await view_thread(saver, "t")
    assert (ended.status, ended.usage.llm_calls) == ("finished", 7)
