"""Sessions with a server over each transport: calls, their ends, and what becomes of a server that fails."""

import asyncio
import sys
from uuid import uuid4

import pytest
from blockbuster import blockbuster_ctx
from mcp_maze import MAZE, Maze, children, eventually, until

from clew.state.errors import ToolFailure

TOOLS = ["look", "mark", "fail", "walk", "ask", "build", "collapse"]

NOBODY = {"url": "http://127.0.0.1:9/mcp", "connect_timeout": 5}


async def test_a_server_lists_its_tools_and_answers_calls(maze, open_tools):
    tools = open_tools(maze=maze.fields)
    assert (await tools.names())[: len(TOOLS)] == [f"maze__{name}" for name in TOOLS]
    result = await tools.call("maze__look", where="a wall")
    assert (result.content, result.status) == ("you see a wall", "success")
    assert result.artifact["server"] == "maze"
    with pytest.raises(ToolFailure, match="the door is shut"):
        await tools.call("maze__fail")
    with pytest.raises(ToolFailure, match="where"):
        await tools.call("maze__look", wrong="a wall")


async def test_a_call_that_is_cancelled_ends_at_the_server(maze, open_tools):
    tools = open_tools(maze=maze.fields)
    walking = asyncio.create_task(tools.call("maze__walk", seconds=600))
    await until(lambda: "walk" in maze.noted())
    walking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await walking
    await until(lambda: "cancelled" in maze.noted())
    assert (await tools.call("maze__look", where="up")).content == "you see up"


async def test_a_slow_call_is_given_up_and_the_server_is_told(maze, open_tools):
    tools = open_tools(maze={**maze.fields, "timeout": 0.5})
    await tools.names()
    with pytest.raises(ToolFailure, match=r"did not answer within 0\.5 seconds"):
        await tools.call("maze__walk", seconds=600)
    await until(lambda: "cancelled" in maze.noted())


async def test_a_killed_server_is_an_error_and_once_it_is_back_it_answers(mortal_maze, open_tools):
    maze = mortal_maze
    tools = open_tools(maze=maze.fields)
    walking = asyncio.create_task(tools.call("maze__walk", seconds=600))
    await until(lambda: "walk" in maze.noted())
    maze.kill()
    with pytest.raises(ToolFailure, match="may or may not have taken effect"):
        await walking
    await maze.start()

    async def answers():
        try:
            return (await tools.call("maze__look", where="out")).content == "you see out"
        except ToolFailure:
            return False

    await eventually(answers)
    assert maze.noted().count("walk") == 1


async def test_new_tools_are_listed_after_a_notice(maze, open_tools):
    tools = open_tools(maze=maze.fields)
    before, room = await tools.names(), f"hall_{uuid4().hex[:6]}"
    await tools.call("maze__build", name=room)

    async def listed():
        return f"maze__{room}" in await tools.names(always=maze.transport == "sse")

    await eventually(listed)
    assert await tools.names() == [*before, f"maze__{room}"]
    assert (await tools.call(f"maze__{room}")).content == f"you are in {room}"


async def test_a_server_that_dies_again_and_again_is_started_again_and_again(tmp_path, open_tools):
    maze = Maze("stdio", tmp_path)
    tools = open_tools(maze=maze.fields)
    for times in range(1, 4):
        with pytest.raises(ToolFailure, match="lost during `collapse`"):
            await tools.call("maze__collapse")
        assert maze.noted().count("collapse") == times
        await until(lambda times=times: maze.noted().count("start") == times + 1)
    assert (await tools.call("maze__look", where="dust")).content == "you see dust"


async def test_absent_servers_have_no_tools_and_a_reason_and_the_others_work(tmp_path, open_tools):
    crash = {"command": sys.executable, "args": ["-c", "raise SystemExit('no license')"]}
    silent = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"], "connect_timeout": 1}
    unset = {"command": "true", "env": {"KEY": "${SURELY_NOT_SET}"}}
    missing = {"command": "no-such-program"}
    here = Maze("stdio", tmp_path).fields
    tools = open_tools(here=here, missing=missing, nobody=NOBODY, crash=crash, silent=silent, unset=unset)
    assert {name.partition("__")[0] for name in await tools.names()} == {"here"}
    problems = await tools.problems()
    assert "cannot start 'no-such-program'" in problems["missing"]
    assert "cannot be reached" in problems["nobody"]
    assert "it said: no license" in problems["crash"]
    assert "did not answer within 1 seconds" in problems["silent"]
    assert "SURELY_NOT_SET" in problems["unset"]


async def test_a_program_gets_no_secret_of_the_environment_and_ends_with_the_session(tmp_path, open_tools, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os, sys; open(sys.argv[1], 'w').write(' '.join(sorted(os.environ))); sys.stdin.read()"
    names = tmp_path / "names"
    fields = {"command": sys.executable, "args": ["-c", code, str(names)], "env": {"MINE": "1"}, "connect_timeout": 3}
    tools = open_tools(spy=fields)
    looking = asyncio.create_task(tools.names())
    await until(names.exists)
    await looking
    assert {"MINE", "PATH"} <= set(names.read_text().split()) <= {
        "MINE", "PATH", "HOME", "LOGNAME", "SHELL", "TERM", "USER", "LC_CTYPE",
    }  # fmt: skip


async def test_tools_may_be_allowed_and_denied(tmp_path, open_tools):
    maze = Maze("stdio", tmp_path)
    tools = open_tools(maze={**maze.fields, "allowed_tools": ["look", "mark"], "denied_tools": ["mark"]})
    assert await tools.names() == ["maze__look"]


async def test_all_agents_of_a_thread_share_one_process_which_ends_with_it(tmp_path, open_tools):
    from clew.tools.resources import Scope, resources

    maze = Maze("stdio", tmp_path)
    tools, others = open_tools(maze=maze.fields), open_tools(maze=maze.fields)
    await asyncio.gather(tools.names(), others.names())
    assert len(children(f"{MAZE} stdio")) == 1
    await resources().close(Scope("t"))
    assert children(f"{MAZE} stdio") == []


async def test_nothing_of_it_blocks_the_event_loop(tmp_path, open_tools):
    tools = open_tools(maze=Maze("stdio", tmp_path).fields)
    with blockbuster_ctx():
        result = await tools.call("maze__look", where="ahead")
    assert result.content == "you see ahead"
