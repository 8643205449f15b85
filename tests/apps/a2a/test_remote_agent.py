"""An agent elsewhere does tasks of ours: by itself, for a plan, for another agent."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys

import pytest
from a2a.types import Part
from langchain_core.messages import HumanMessage
from langgraph.types import Command
from pydantic import SecretStr

from clew.checkpoints.open import open_saver
from clew.graphs import AgentSpec, create_agent, create_flow
from clew.graphs.specs import agent_spec
from clew.state.errors import ToolFailure, UsageError
from clew.state.remote_agents import RemoteSettings
from clew.state.serving import ServeSettings
from clew.state.settings import Settings
from clew.tools.a2a.client import open_remote

CONFIG = {"configurable": {"thread_id": "t1"}}


def task(text):
    return {"messages": [HumanMessage(text)]}


async def test_the_agent_answers(served):
    graph = create_agent(f"a2a:{served.url}")
    state = await graph.ainvoke(task("hello"))
    assert (state["status"], state["outcome"].answer) == ("finished", "First answer.")
    assert [message.text for message in state["messages"]] == ["hello", "First answer."]


async def test_its_question_is_our_interrupt_and_a_new_process_may_answer(served, tmp_path):
    async with open_saver(str(tmp_path / "ours.db")) as saver:
        graph = create_agent(f"a2a:{served.url}", checkpointer=saver)
        state = await graph.ainvoke(task("ask me"), CONFIG)
        (asked,) = state["__interrupt__"]
        assert (asked.value["kind"], asked.value["question"]) == ("input", "Which colour?")
    async with open_saver(str(tmp_path / "ours.db")) as saver:
        graph = create_agent(f"a2a:{served.url}", checkpointer=saver)
        state = await graph.ainvoke(Command(resume="blue"), CONFIG)
        assert (state["status"], state["outcome"].answer) == ("finished", "You said so.")
        following = await graph.ainvoke(task("hello"), CONFIG)
        assert following["outcome"].answer == "And more."
    (record,) = await served.session.registry.list()
    assert len((await served.session.values(record))["messages"]) == 6


@pytest.mark.parametrize(
    ("asked", "status", "reason"),
    [
        ("give up", "error", "It cannot be done."),
        ("fail", "error", "the run failed; the server's log says why"),
        ("ask me", "error", "nobody is there to answer: Which colour?"),
    ],
)
async def test_a_task_that_is_not_done_says_why(served, asked, status, reason):
    state = await create_agent(f"a2a:{served.url}").ainvoke(task(asked))
    assert (state["status"], state["outcome"].success) == (status, False)
    assert reason in state["outcome"].reason


async def test_an_agent_that_is_not_there_is_an_error_at_once():
    state = await create_agent("a2a:http://127.0.0.1:9").ainvoke(task("hello"))
    assert state["status"] == "error"
    assert state["outcome"].reason == (
        "the agent at http://127.0.0.1:9 cannot be reached: see that it runs, and that the address is right"
    )


@pytest.mark.parametrize("name", ["a2a:", "a2a:agents.example", "a2a:file:///etc"])
def test_a_name_without_an_address_is_refused(name):
    with pytest.raises(UsageError, match="write a2a:https://HOST"):
        agent_spec(name)


async def test_a_key_of_the_settings_is_shown(serve):
    keys = ServeSettings(keys={"ours": SecretStr("a-key-of-ours")})
    async with serve(serve=keys) as served:
        own = Settings(remotes={"crete": RemoteSettings(url=served.url, key=SecretStr("a-key-of-ours"))})
        state = await create_agent(f"a2a:{served.url}", settings=own).ainvoke(task("hello"))
        assert state["status"] == "finished"
        refused = await create_agent(f"a2a:{served.url}", settings=Settings()).ainvoke(task("hello"))
        assert refused["status"] == "error"
        assert "(401): write it as `key` of a table [remotes.NAME]" in refused["outcome"].reason


async def test_a_message_that_arrived_is_not_sent_again(served):
    async with open_remote(served.url) as remote:
        first = await remote.submit([Part(text="hello")], "one-id", "", "")
    async with open_remote(served.url) as remote:
        again = await remote.submit([Part(text="hello")], "one-id", "", "")
        assert (await remote.follow(again["id"], lambda said: None))["state"] == "completed"
    assert again["id"] == first["id"]
    assert len(await served.session.registry.list()) == 1


async def test_it_does_the_step_of_a_plan(served, tmp_path):
    steps = [{"text": "hello", "agent": "crete"}]
    plan = {"tool_calls": [{"name": "planning", "args": {"command": "create", "title": "A plan", "steps": steps}}]}
    scripts = {"scripts": [{"name": "planner", "replies": [plan, "All is said."]}]}
    (tmp_path / "plan.json").write_text(json.dumps(scripts))
    flow = create_flow(
        agents={"manus": "manus", "crete": f"a2a:{served.url}"}, model=f"script:{tmp_path / 'plan.json'}"
    )
    state = await flow.ainvoke(task("do it"))
    assert [(step.status, step.agent, step.result) for step in state["plan"].steps] == [
        ("completed", "crete", "First answer.")
    ]


async def test_an_agent_delegates_to_it(served, tmp_path):
    call = {"tool_calls": [{"name": "delegate", "args": {"agent": "crete", "task": "ask me"}}]}
    (tmp_path / "own.json").write_text(json.dumps([call, "It is done."]))
    spec = AgentSpec(name="coder", delegates=("crete",))
    async with open_saver(str(tmp_path / "ours.db")) as saver:
        graph = create_agent(
            spec,
            model=f"script:{tmp_path / 'own.json'}",
            agents={"crete": f"a2a:{served.url}"},
            checkpointer=saver,
        )
        state = await graph.ainvoke(task("have it done"), CONFIG)
        (asked,) = state["__interrupt__"]
        assert asked.value["question"] == "Which colour?"
        state = await graph.ainvoke(Command(resume="blue"), CONFIG)
    assert (state["status"], state["outcome"].answer) == ("finished", "It is done.")
    assert "You said so." in state["messages"][-2].text
    assert "delegate_crete" in graph.get_graph().nodes


async def test_a_task_outlives_a_kill_of_its_server(start, tmp_path):
    async with start() as (process, url):
        graph = create_agent(f"a2a:{url}")
        running = asyncio.create_task(graph.ainvoke(task("take your time")))
        while not await asyncio.to_thread((tmp_path / "begun").exists):  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.05)
        process.kill()
        await process.wait()
    async with start():
        state = await running
    assert (state["status"], state["outcome"].answer) == ("finished", "Done.")


async def test_patience_with_a_server_that_is_gone_has_an_end(served):
    async with open_remote(served.url, patience=1.5) as remote:
        begun = await remote.submit([Part(text="hello")], "one-id", "", "")
        with pytest.raises(ToolFailure, match=r"the agent at \S+ cannot do it"):
            await remote.follow("no such task", lambda said: None)
        assert (await remote.follow(begun["id"], lambda said: None))["state"] == "completed"
    with pytest.raises(ToolFailure):
        async with open_remote("http://127.0.0.1:9", patience=1.5):
            pass


async def test_the_command_line_runs_answers_and_stops_it(served, tmp_path):
    agent = f"a2a:{served.url}"

    async def clew(*arguments):
        command = [sys.executable, "-m", "clew.apps.cli.main", *arguments]
        done = await asyncio.to_thread(subprocess.run, command, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, json.loads(done.stdout.splitlines()[-1]) if done.stdout.startswith("{") else done.stderr

    code, end = await clew("run", "ask me", "--agent", agent, "--thread", "t1", "--json")
    assert (code, end["status"]) == (3, "waiting")
    code, end = await clew("resume", "t1", "--answer", "blue", "--json")
    assert (code, end["status"], end["answer"]) == (0, "finished", "You said so.")
    await clew("run", "ask me", "--agent", agent, "--thread", "t2", "--json")
    await clew("stop", "t2")
    code, end = await clew("show", "t2", "--json")
    assert end["status"] == "cancelled"


async def test_without_the_extra_its_name_is_told(monkeypatch):
    for name in [name for name in sys.modules if name.startswith(("a2a.", "clew.tools.a2a.client"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "a2a", None)
    with pytest.raises(UsageError, match=r"needs the package 'a2a\S*': pip install 'clew\[a2a,web\]'"):
        await create_agent("a2a:http://127.0.0.1:1").ainvoke(task("hello"))
