"""What the tests of the MCP client share."""

import pytest
from mcp_maze import Maze, Tools
from mcp_servers import command_of

from clew.tools.resources import resources


@pytest.fixture
async def open_tools(tmp_path):
    """Makes `Tools`, and closes what they opened."""
    yield lambda **servers: Tools(tmp_path, **servers)
    await resources().close_all()


@pytest.fixture(params=["stdio", "sse", "http"])
async def maze(request, tmp_path):
    """The test server over each transport."""
    maze = Maze(request.param, tmp_path)
    await maze.start()
    yield maze
    if maze.remote:
        maze.remote.kill()


@pytest.fixture
def server():
    """The command of a well-known server; skips where it is not installed."""

    def find(package):
        command = command_of(package)
        if command is None:
            pytest.skip(f"{package} is not installed: run `python tests/support/mcp_servers.py`, with network")
        return command

    return find
