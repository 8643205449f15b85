"""`clew mcp`: the servers of the settings, listed and tested."""

import json
import sys

import pytest
from mcp_maze import MAZE


@pytest.fixture
def servers(folder):
    toml = f'[mcp.servers.maze]\ncommand = "{sys.executable}"\nargs = ["{MAZE}", "stdio"]\n'
    more = '[mcp.servers.gone]\ncommand = "no-such-program"\n[mcp.servers.away]\nurl = "https://x.example/mcp?key=1"\n'
    (folder / "clew.toml").write_text(toml + more + "disabled = true\n")


def test_servers_are_listed_without_being_asked(clew, servers):
    result = clew("mcp", "list")
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()] == ["server", "maze", "gone", "away"]
    rows = clew("mcp", "list", "--json").events
    assert rows[2] == {"server": "away", "transport": "http", "target": "https://x.example/mcp", "disabled": True}


def test_a_server_is_tested_by_connecting_to_it(clew, servers):
    result = clew("mcp", "test", "maze")
    assert result.code == 0
    assert "protocol 2026-07-28" in result.out
    assert "maze__look" in result.out
    [report] = [json.loads(line) for line in clew("mcp", "test", "maze", "--json").out.splitlines()]
    look = next(tool for tool in report["tools"] if tool["remote"] == "look")
    assert (look["name"], look["risk"], look["idempotent"]) == ("maze__look", "low", True)


@pytest.mark.parametrize(
    ("argv", "code", "problem"),
    [
        (("mcp", "test", "gone"), 1, "cannot start 'no-such-program'"),
        (("mcp", "test", "castle"), 2, "no MCP server 'castle'; there are: maze, gone, away"),
        (("mcp", "login", "maze"), 2, "mcp.servers.maze.oauth"),
        (("run", "--agent", "mcp", "x", "--model", "script:none.json"), 2, ""),
    ],
)
def test_what_is_wrong_is_told_in_one_line(clew, servers, argv, code, problem):
    result = clew(*argv)
    assert result.code == code
    assert problem in result.err
    assert len(result.err.splitlines()) == 1


def test_without_servers_the_list_says_how_to_add_one(clew):
    result = clew("mcp", "list")
    assert (result.code, result.out) == (0, "")
    assert "[mcp.servers.NAME]" in result.err
    refused = clew("run", "--agent", "mcp", "x", "--model", "openai:gpt-5")
    assert refused.code != 0
