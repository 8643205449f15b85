"""`clew serve mcp`, called by the SDK's own client over stdio and HTTP."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_maze import free_port
from mcp_types import ElicitResult, InputRequiredResult

SERVE = ["-m", "clew.apps.cli.main", "serve", "mcp"]

ASK = {"tool_calls": [{"name": "ask_human", "args": {"inquire": "Which colour?"}}]}

LOOK = {"content": "I look.", "tool_calls": [{"name": "str_replace_editor", "args": {"command": "view", "path": "."}}]}

END = {"tool_calls": [{"name": "terminate", "args": {"status": "success", "answer": "It is painted."}}]}


@pytest.fixture
def folder(tmp_path):
    replies = {"scripts": [{"name": "agent", "replies": [LOOK, ASK, END, "Again done."]}]}
    (tmp_path / "script.json").write_text(json.dumps(replies))
    return tmp_path


def environment(folder, **more):
    own = {"CLEW_HOME": str(folder / "home"), "CLEW_MODEL": f"script:{folder / 'script.json'}", "CLEW_CONFIRM": "never"}
    return {**own, **more}


async def paint(_, params):
    """The person says what is to be painted."""
    assert "Which colour?" in params.message
    return ElicitResult(action="accept", content={"answer": "red"})


def over_stdio(folder, *arguments, **options):
    command = [*SERVE, *arguments]
    parameters = StdioServerParameters(command=sys.executable, args=command, env=environment(folder), cwd=folder)
    return Client(parameters, **options)


class Serving:
    """A server on HTTP, which can be killed and started again."""

    def __init__(self, folder, *arguments, **variables):
        self.folder, self.port = folder, free_port()
        self.arguments = [*SERVE, "--http", "--port", str(self.port), *arguments]
        self.variables = {**os.environ, **environment(folder, **variables)}
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    async def __aenter__(self):
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, *self.arguments, cwd=self.folder, env=self.variables, stderr=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(60):
            while b"serving over MCP" not in (line := await self.process.stderr.readline()):
                assert line, "the server ended"
        return self

    async def __aexit__(self, *_):
        self.process.send_signal(signal.SIGKILL)
        await self.process.wait()


@asynccontextmanager
async def client_with_key(url, key):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"})
    async with http, Client(streamable_http_client(url, http_client=http)) as client:
        yield client


async def test_each_graph_is_a_tool_with_an_output_schema_and_tells_its_progress(folder):
    told = []

    async def progress(done, total, message):
        told.append(message)

    async with over_stdio(folder, elicitation_callback=paint) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        result = await client.call_tool("manus", {"task": "Paint."}, progress_callback=progress)
    assert {"manus", "planning", "plan"} <= set(tools)
    assert "mcp" not in tools
    assert set(tools["manus"].output_schema["required"]) >= {"thread", "status", "answer"}
    assert told[:4] == ["think: I look.", "act: str_replace_editor", "think", "act: ask_human"]
    assert result.structured_content["status"] == "finished"
    assert result.content[0].text == "It is painted."


async def test_an_older_client_is_asked_while_the_call_runs(folder):
    async with over_stdio(folder, elicitation_callback=paint, mode="legacy") as client:
        result = await client.call_tool("manus", {"task": "Paint."})
    assert result.structured_content["answer"] == "It is painted."


async def test_a_client_that_cannot_ask_gets_the_question_and_answers_with_another_call(folder):
    async with over_stdio(folder) as client:
        waiting = (await client.call_tool("manus", {"task": "Paint."})).structured_content
        thread = waiting["thread"]
        assert (waiting["status"], waiting["questions"][0]["question"]) == ("waiting", "Which colour?")
        done = await client.call_tool("manus", {"thread": thread, "answer": "red"})
        assert done.structured_content["answer"] == "It is painted."
        again = await client.call_tool("manus", {"thread": thread, "task": "Paint again."})
        assert again.structured_content["answer"] == "Again done."
        assert again.structured_content["thread"] == thread
        for wrong in ({}, {"thread": "nobody's", "answer": "x"}, {"thread": thread, "answer": "x"}, {"task": 5}):
            assert (await client.call_tool("manus", wrong)).is_error


async def test_a_call_that_asked_goes_on_in_a_server_that_was_killed_and_started_again(folder):
    serving, task = Serving(folder), {"task": "Paint."}
    async with serving, Client(serving.url, elicitation_callback=paint) as client:
        asked = await client.session.call_tool("manus", task, allow_input_required=True)
        assert isinstance(asked, InputRequiredResult)
    [question] = asked.input_requests
    answer = {question: ElicitResult(action="accept", content={"answer": "red"})}
    async with serving, Client(serving.url, elicitation_callback=paint) as client:
        result = await client.call_tool("manus", task, input_responses=answer, request_state=asked.request_state)
        forged = await client.call_tool("manus", {"thread": "mcp-0-1"})
    assert result.structured_content["answer"] == "It is painted."
    assert forged.is_error


async def test_tools_of_ours_are_served_on_request(folder):
    async with over_stdio(folder, "--graphs", "manus", "--tools", "bash,str_replace_editor,terminate") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["manus", "bash", "str_replace_editor", "terminate"]
        assert tools["bash"].annotations.destructive_hint
        assert "command" in tools["bash"].input_schema["properties"]
        await client.call_tool("bash", {"command": "X=5"})
        assert "five 5" in (await client.call_tool("bash", {"command": "echo five $X"})).content[0].text
        made = {"command": "create", "path": "a.txt", "file_text": "hello"}
        assert not (await client.call_tool("str_replace_editor", made)).is_error
        assert (await client.call_tool("str_replace_editor", {"command": "view", "path": "b.txt"})).is_error
        assert "success" in (await client.call_tool("terminate", {"status": "success"})).content[0].text


async def test_over_http_a_key_is_needed_the_host_is_checked_and_threads_have_owners(folder):
    keys = {"CLEW_SERVE__KEYS": json.dumps({"ann": "key-of-ann", "bob": "key-of-bob"})}
    async with Serving(folder, **keys) as serving:
        async with httpx2.AsyncClient() as http:
            assert (await http.post(serving.url, json={})).status_code == 401
            assert (await http.post(serving.url, json={}, headers={"Host": "evil.example"})).status_code == 421
            assert (await http.post(serving.url, json={}, headers={"Origin": "http://evil.example"})).status_code == 403
        async with client_with_key(serving.url, "key-of-ann") as client:
            waiting = (await client.call_tool("manus", {"task": "Paint."})).structured_content
        answer = {"thread": waiting["thread"], "answer": "red"}
        async with client_with_key(serving.url, "key-of-bob") as client:
            assert "no thread" in (await client.call_tool("manus", answer)).content[0].text
        async with client_with_key(serving.url, "key-of-ann") as client:
            assert (await client.call_tool("manus", answer)).structured_content["status"] == "finished"


def test_an_address_that_is_open_to_others_needs_keys(folder):
    command = [sys.executable, *SERVE, "--http", "--host", "0.0.0.0", "--port", str(free_port())]
    run = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment(folder)}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 2
    assert "no caller has a key" in run.stderr
    assert "Traceback" not in run.stderr
