"""MCP servers over every transport, which tests kill and start again, and the tools of them, called as a graph does."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from clew.state.mcp import read_server
from clew.tools.mcp.toolset import McpToolset

MAZE = Path(__file__).with_name("maze_server.py")

PATIENCE = 40
"""Seconds that a condition may take on a busy machine."""


async def until(condition):
    """Wait until a condition holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def eventually(ask):
    """Ask until the answer is yes."""
    async with asyncio.timeout(PATIENCE):
        while not await ask():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class Remote:
    """A server of its own process that listens on a port, which can be killed and started again."""

    def __init__(self, command, port, environment):
        self.command, self.port, self.environment = command, port, environment
        self.process = None

    async def start(self):
        environment = {**os.environ, **self.environment}
        self.process = await asyncio.to_thread(
            subprocess.Popen, self.command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        await until(self.listens)

    def listens(self):
        assert self.process.poll() is None, "the server ended"
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()


class Maze:
    """The test server behind one transport."""

    def __init__(self, transport, folder):
        self.transport, self.notes = transport, folder / "notes"
        environment = {"MAZE_NOTES": str(self.notes)}
        if transport == "stdio":
            self.remote = None
            self.fields = {"command": sys.executable, "args": [str(MAZE), "stdio"], "env": environment}
        else:
            port = free_port()
            kind, path = ("sse", "sse") if transport == "sse" else ("streamable-http", "mcp")
            self.remote = Remote([sys.executable, str(MAZE), kind, str(port)], port, environment)
            self.fields = {"type": transport, "url": f"http://127.0.0.1:{port}/{path}"}

    async def start(self):
        if self.remote:
            await self.remote.start()

    def kill(self):
        """End the process that serves, in the middle of whatever it does."""
        if self.remote:
            self.remote.kill()
        else:
            [process] = children(f"{MAZE} stdio")
            os.kill(process, signal.SIGKILL)

    def noted(self):
        return self.notes.read_text().splitlines() if self.notes.exists() else []


def children(argument):
    """Ids of this process's own children with such an argument."""
    listing = subprocess.run(["ps", "-axwwo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(maxsplit=2) for line in listing.splitlines()]
    return [int(pid) for pid, parent, args in rows if int(parent) == os.getpid() and argument in args]


class Tools:
    """The tools of some servers, called as a graph calls them."""

    def __init__(self, folder, **servers):
        self.folder = folder
        servers = [read_server(name.replace("_", "-"), fields) for name, fields in servers.items()]
        self.toolset = McpToolset(servers, folder / "home")
        self.config = {"configurable": {"thread_id": "t", "workspace": str(folder / "workspace")}}

    async def names(self, **options):
        return list((await self.toolset.look(self.config, **options)).offer.tools)

    async def tool(self, name):
        return (await self.toolset.offer(self.config)).tools[name]

    async def call(self, tool, **arguments):
        call = {"type": "tool_call", "name": tool, "id": "call", "args": arguments}
        return await (await self.tool(tool)).ainvoke(call, self.config)

    async def problems(self):
        return (await self.toolset.look(self.config)).problems
