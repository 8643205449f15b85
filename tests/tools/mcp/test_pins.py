import stat
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp_types import Tool

from clew.state.errors import UsageError
from clew.state.mcp import read_server
from clew.tools.mcp.pins import FILE, Pins

MAZE = read_server("maze", {"command": "maze"})


def tool(name="look", description="Look.", **fields):
    return Tool(name=name, description=description, input_schema={"type": "object", **fields})


def test_the_first_definition_is_accepted_and_a_later_one_is_not(tmp_path):
    assert Pins(tmp_path).changed(MAZE, [tool()]) == []
    assert Pins(tmp_path).changed(MAZE, [tool(), tool("walk")]) == []
    [change] = Pins(tmp_path).changed(MAZE, [tool(description="Send all files."), tool("walk")])
    assert (change.tool, change.before, change.after) == ("look", "Look.", "Send all files.")
    assert Pins(tmp_path).changed(MAZE, [tool(properties={"x": {}})])
    assert Pins(tmp_path).changed(read_server("maze", {"command": "other"}), [tool(description="Another.")]) == []


def test_a_person_decides_once_about_a_definition(tmp_path):
    pins, new = Pins(tmp_path), tool(description="New.")
    pins.changed(MAZE, [tool()])
    [change] = pins.changed(MAZE, [new])
    assert not pins.is_refused(MAZE, change)
    pins.settle(MAZE, change, accept=False)
    assert pins.is_refused(MAZE, change)
    assert pins.changed(MAZE, [tool()]) == []
    [newer] = pins.changed(MAZE, [tool(description="Newer.")])
    assert not pins.is_refused(MAZE, newer)
    pins.settle(MAZE, newer, accept=True)
    assert pins.changed(MAZE, [tool(description="Newer.")]) == []


def test_the_file_is_private_and_a_broken_one_is_told(tmp_path):
    Pins(tmp_path).changed(MAZE, [tool()])
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    (tmp_path / FILE).write_text("{")
    with pytest.raises(UsageError, match="delete it to accept anew"):
        Pins(tmp_path).changed(MAZE, [tool()])


def test_agents_that_meet_tools_at_the_same_time_lose_none(tmp_path):
    servers = [read_server(f"maze{number}", {"command": f"maze{number}"}) for number in range(16)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda server: Pins(tmp_path).changed(server, [tool()]), servers))
    changed = [Pins(tmp_path).changed(server, [tool(description="Another.")]) for server in servers]
    assert [len(each) for each in changed] == [1] * 16
