"""`langgraph dev` with the repository's `langgraph.json`: offline, on a free port, driven as Studio drives it."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from source_tree import ROOT

from clew.apps.studio import app, close_resources
from clew.graphs import AGENTS
from clew.graphs.hub import DESCRIPTION
from clew.tools.resources import Scope, resources

SERVED = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]

OFFLINE = {"LANGSMITH_TRACING": "false", "LANGGRAPH_CLI_NO_ANALYTICS": "1", "LANGGRAPH_NO_VERSION_CHECK": "true"}

TASK = {"messages": [{"role": "user", "content": "find the way out"}]}

SCRIPT = """
import re


def call(name, **args):
    return {"tool_calls": [{"name": name, "args": args}]}


def reply(messages, tools):
    text = "\\n".join(message.text for message in messages if message.type in ("system", "human"))
    seen = [message.text for message in messages if message.type == "tool"]
    if "Make a plan for the task" in text:
        free = [{"text": text, "depends_on": []} for text in ("look", "ask")]
        return call("planning", command="create", title="Out", steps=[*free, "walk"])
    if "All steps of the plan are done" in text:
        return "Out."
    step = re.findall("^Current step: (.*)$", text, re.MULTILINE)
    return carry_out(step[-1], seen) if step else find_the_way(seen)


def carry_out(step, seen):
    first = call("ask_human", inquire="Which way?") if step == "ask" else call("bash", command=f"echo {step} >> log")
    return call("terminate", status="success", answer=f"{step}: {seen[-1]}") if seen else first


def find_the_way(seen):
    replies = [
        call("bash", command="thread=ariadne; sleep 4242 & echo begun"),
        call("python_execute", code="print(6 * 7)"),
        call("str_replace_editor", command="create", path="note.txt", file_text="a note"),
        call("ask_human", inquire="Which way?"),
        call("bash", command='echo "$thread held the thread"'),
    ]
    if len(seen) < len(replies):
        return replies[len(seen)]
    return call("terminate", status="success", answer="; ".join(seen[3:]))
"""


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[bytes]
    client: LangGraphClient
    log: Path

    def tools(self) -> list[psutil.Process]:
        """What the tools of the runs have started and not ended."""
        return psutil.Process(self.process.pid).children(recursive=True)

    async def answers(self) -> None:
        """Wait until it answers."""
        found = []
        while not found:
            await asyncio.sleep(0.1)
            assert self.process.poll() is None, self.log.read_text()
            with suppress(httpx.ConnectError):
                found = await self.client.assistants.search()


def start_server(folder: Path) -> Server:
    """Start a server whose threads, files and log are in `folder`."""
    script, log, port = folder / "script.py", folder / "server.log", free_port()
    script.write_text(SCRIPT, encoding="utf-8")
    own = {"CLEW_HOME": str(folder / "home"), "CLEW_MODEL": f"script:{script}", "CLEW_CONFIRM": "never"}
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*command, "--config", str(ROOT / "langgraph.json"), "--port", str(port)],
            cwd=folder,
            env={**os.environ, **OFFLINE, **own},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return Server(process, get_client(url=f"http://127.0.0.1:{port}", api_key=None), log)


@asynccontextmanager
async def langgraph_dev(folder: Path) -> AsyncIterator[Server]:
    """A server that answers; it is stopped at the end, and what its tools had started must be gone then."""
    server = await asyncio.to_thread(start_server, folder)
    try:
        async with asyncio.timeout(100):
            await server.answers()
        yield server
        left = server.tools() if server.process.poll() is None else []
    finally:
        await server.client.aclose()
        server.process.terminate()
        await asyncio.to_thread(server.process.wait, 30)
    assert psutil.wait_procs(left, timeout=10)[1] == []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def stream(client, thread, graph, **arguments):
    """The events of a run, as (node or `__interrupt__`, update), with the graph that a child's event comes from."""
    parts = client.runs.stream(thread, graph, stream_mode="updates", stream_subgraphs=True, **arguments)
    return [
        (part.event.partition(":")[0], *item)
        async for part in parts
        if part.event.startswith("updates")
        for item in part.data.items()
    ]


def test_every_agent_the_hub_and_the_plan_graph_are_served_with_their_descriptions():
    # The agent of MCP servers cannot be made before there are some in the settings.
    agents = {name: spec for name, spec in AGENTS.items() if name != "mcp"}
    assert SERVED.keys() == {*agents, "hub", "plan"}
    assert SERVED["hub"]["description"] == DESCRIPTION
    for name, spec in agents.items():
        assert SERVED[name]["description"] == spec.description


def test_what_is_served_is_compiled_and_has_no_checkpointer_of_its_own():
    for name, served in SERVED.items():
        module, _, attribute = served["path"].partition(":")
        graph = getattr(importlib.import_module(module), attribute)
        assert (graph.name, graph.checkpointer) == (name, None)


async def test_the_end_of_the_app_closes_what_tools_hold_open():
    class Door:
        closed = False

        async def close(self):
            self.closed = True

    door = Door()

    async def opened():
        return door

    async with close_resources(app):
        async with resources().use(Scope("t"), "door", opened):
            pass
        assert not door.closed
    assert door.closed


async def test_a_shell_outlives_a_question_and_its_answer_but_not_the_server(tmp_path):
    async with langgraph_dev(tmp_path) as server:
        client = server.client
        assert {found["graph_id"] for found in await client.assistants.search(limit=100)} == SERVED.keys()
        answered, waiting = [(await client.threads.create())["thread_id"] for _ in range(2)]

        events = await stream(client, answered, "manus", input=TASK)
        assert [node for _, node, _ in events] == [*["think", "act"] * 3, "think", "__interrupt__"]
        assert events[-1][2][0]["value"]["question"] == "Which way?"
        assert (await client.threads.get(answered))["status"] == "interrupted"

        events = await stream(client, answered, "manus", command={"resume": "left"})
        assert [node for _, node, _ in events[-2:]] == ["check_stuck", "terminate"]
        values = (await client.threads.get_state(answered))["values"]
        assert values["status"] == "finished"
        assert values["outcome"]["answer"] == "left; ariadne held the thread\n[exit code 0]"
        assert (tmp_path / "home" / "workspaces" / answered / "note.txt").read_text() == "a note"

        history = await client.threads.get_history(answered, limit=100)
        assert [state["next"] for state in history[:2]] == [[], ["terminate"]]
        assert len([state for state in history if state["next"] == ["think"]]) == 6
        assert not server.tools()

        await a_person_decides_about_a_call(client)

        await stream(client, waiting, "manus", input=TASK)
        assert "sleep" in {process.name() for process in server.tools()}
    assert "Blocking" not in server.log.read_text() + json.dumps(values)


async def a_person_decides_about_a_call(client):
    """The question and the answers as Studio shows and takes them: plain JSON."""
    thread = (await client.threads.create())["thread_id"]
    events = await stream(client, thread, "manus", input=TASK, context={"confirm": "always"})
    assert [node for _, node, _ in events] == ["think", "assess", "__interrupt__"]
    (question,) = (await client.threads.get_state(thread))["interrupts"]
    assert (question["value"]["kind"], question["value"]["path"]) == ("confirm", ["manus"])
    (call,) = question["value"]["data"]["calls"]
    assert (call["name"], call["risk"], call["preview"]["language"]) == ("bash", "high", "bash")

    edit = {"calls": {call["id"]: {"edit": {"command": "echo edited"}}}}
    await stream(client, thread, "manus", command={"resume": edit}, context={"confirm": "always"})
    await stream(client, thread, "manus", command={"resume": {"reject": "no"}}, context={"confirm": "never"})
    said = [each["content"] for each in (await client.threads.get_state(thread))["values"]["messages"]]
    assert said[2].startswith("edited")
    assert "A person rejected this call" in said[4]


async def test_a_plan_waits_for_its_answer_through_the_death_of_the_server(tmp_path):
    async with langgraph_dev(tmp_path) as server:
        client = server.client
        drawn = await client.assistants.get_graph("plan", xray=True)
        assert {"create_plan", "execute_step:think", "finalize"} <= {node["id"] for node in drawn["nodes"]}
        thread = (await client.threads.create())["thread_id"]
        events = await stream(client, thread, "plan", input=TASK)
        assert {"think", "act", "terminate"} <= {node for source, node, _ in events if source == "updates|execute_step"}
        server.process.kill()

    async with langgraph_dev(tmp_path) as server:
        client = server.client
        await client.threads.create(thread_id=thread, graph_id="plan", if_exists="do_nothing")
        (question,) = (await client.threads.get_state(thread))["interrupts"]
        assert (question["value"]["question"], question["value"]["path"]) == ("Which way?", ["s2", "manus"])
        await stream(client, thread, "plan", command={"resume": {question["id"]: "left"}})
        values = (await client.threads.get_state(thread))["values"]
        assert [(step["text"], step["status"]) for step in values["plan"]["steps"]] == [
            ("look", "completed"),
            ("ask", "completed"),
            ("walk", "completed"),
        ]
        assert values["plan"]["steps"][1]["result"] == "ask: left"
        assert values["outcome"]["answer"] == "Out."
        assert (tmp_path / "home" / "workspaces" / thread / "log").read_text() == "look\nwalk\n"
    assert "Blocking" not in server.log.read_text() + json.dumps(values)
