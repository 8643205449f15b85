"""A server that is killed in the middle of a task takes it up when it is started again."""

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
from a2a.types import GetTaskRequest
from a2a_peer import client_of, message, said, send_for_task, state


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
    environment = {**os.environ, "CLEW_HOME": str(tmp_path / "home"), "CLEW_SANDBOX__BACKEND": "local"}

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


async def until(condition):
    async with asyncio.timeout(60):
        while not await condition():  # noqa: ASYNC110 - the server is another process
            await asyncio.sleep(0.05)


async def test_tasks_at_work_and_tasks_that_wait_survive_a_kill(start, tmp_path):
    async with start() as (process, url), client_of(url, streaming=False) as client:
        waiting = await send_for_task(client, message("ask me"))
        working = await send_for_task(client, message("take your time"), at_once=True)
        await until(lambda: asyncio.to_thread((tmp_path / "begun").exists))
        process.kill()
        await process.wait()
    async with start() as (process, url), client_of(url, streaming=False) as client:

        async def over():
            return state(await client.get_task(GetTaskRequest(id=working.id))) == "completed"

        await until(over)
        task = await client.get_task(GetTaskRequest(id=working.id))
        assert said(task) == "Done."
        assert any("started again" in part.text for each in task.history for part in each.parts)
        assert (tmp_path / "begun").read_text() == "x\n"
        assert state(await send_for_task(client, message("this", task=waiting.id))) == "completed"
