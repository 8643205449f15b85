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


@pytest.fixture(scope="module")
def shared():
    """Test servers that listen on a port, by transport, for all tests of a file that leave them as they are."""
    mazes = {}
    yield mazes
    for maze in mazes.values():
        maze.remote.kill()


@pytest.fixture(params=["stdio", "sse", "http"])
async def maze(request, tmp_path, tmp_path_factory, shared):
    """The test server over each transport, with empty notes."""
    if request.param == "stdio":
        return Maze("stdio", tmp_path)
    if request.param not in shared:
        shared[request.param] = Maze(request.param, tmp_path_factory.mktemp(request.param))
        await shared[request.param].start()
    shared[request.param].notes.write_text("")
    return shared[request.param]


@pytest.fixture(params=["stdio", "sse", "http"])
async def mortal_maze(request, tmp_path):
    """A test server of its own over each transport, which may be killed."""
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
