import pytest
from mcp_maze import Maze

from clew.state.errors import ToolFailure
from clew.tools.mcp.transport import guarded_client
from clew.tools.web.guard import PublicAddresses


def client(*allowed):
    return guarded_client(PublicAddresses(allowed), headers={}, seconds=10, read_seconds=10)


async def test_an_address_in_a_private_network_is_reached_where_it_is_named_and_nowhere_else(tmp_path):
    maze = Maze("http", tmp_path)
    await maze.start()
    url = f"http://127.0.0.1:{maze.remote.port}/mcp"
    try:
        async with await client("127.0.0.1") as http:
            assert (await http.get(url)).status_code in (400, 406)
        async with await client("mcp.example.com") as http:
            with pytest.raises(ToolFailure, match="in a private network"):
                await http.get(url)
    finally:
        maze.remote.kill()
