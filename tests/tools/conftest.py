"""What the tests of the tools share: a tool bound to a fresh workspace, called as a graph calls it."""

import asyncio
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool

from clew.state.tools import ToolSettings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources
from clew.tools.sandbox.limits import SandboxOptions


@dataclass
class Caller:
    """Calls one tool, by default on one thread."""

    tool: BaseTool
    workspace: Path

    async def __call__(self, *, thread: str = "t", namespace: str = "act:1", **arguments: Any) -> ToolMessage:
        call = {"type": "tool_call", "name": self.tool.name, "id": "call", "args": arguments}
        config = {"configurable": {"thread_id": thread, "checkpoint_ns": namespace}}
        return await self.tool.ainvoke(call, config)

    async def number_in(self, name: str) -> int:
        """The number in a file of the workspace, once another process has written it."""
        file = self.workspace / name
        async with asyncio.timeout(20):
            while not (file.exists() and file.read_text().strip()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return int(file.read_text())


@pytest.fixture(params=["local", pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap"))])
def backend(request):
    """Name of each sandbox backend of this machine in turn."""
    return request.param


@pytest.fixture
async def call(request, tmp_path):
    """Caller of the tool that `request.module.TOOL` names; in each sandbox if its tests ask for `backend`."""
    backend = request.getfixturevalue("backend") if "backend" in request.fixturenames else "local"
    workspace = tmp_path / "workspace"
    settings = ToolSettings(sandbox=SandboxOptions(backend=backend))
    [tool] = build_tools([request.module.TOOL], workspace=workspace, settings=settings)
    yield Caller(tool, workspace)
    await resources().close_all()


@pytest.fixture
def running():
    """Ids of the processes of this machine, also those in sandboxes, whose command line is `command`."""

    def find(command: str) -> list[int]:
        listing = subprocess.run(["ps", "-axo", "pid=,stat=,args="], capture_output=True, text=True, check=True).stdout
        rows = [line.split(maxsplit=2) for line in listing.splitlines()]
        return [int(pid) for pid, state, *args in rows if args == [command] and "Z" not in state]

    return find
