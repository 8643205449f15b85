"""MCP servers in the settings, and in the files of other programs."""

import json

import pytest

from clew.state.errors import UsageError
from clew.state.mcp import McpSettings, read_server
from clew.state.secrets import secret_settings
from clew.state.settings import Settings, load_settings

CLAUDE = {"mcpServers": {"files": {"command": "npx", "args": ["-y", "server", "${HOME_OF_DATA}"], "env": {"A": "1"}}}}

CURSOR = {"mcpServers": {"tickets": {"url": "https://mcp.example.com", "headers": {"X-Key": "${env:TICKETS}"}}}}

VS_CODE = {
    "inputs": [{"id": "key", "type": "promptString"}],
    "servers": {
        "tickets": {"type": "sse", "url": "https://mcp.example.com/sse", "headers": {"Key": "${input:key}"}},
        "here": {"type": "stdio", "command": "server", "cwd": "${workspaceFolder}", "envFile": ".env", "gallery": True},
    },
}


@pytest.fixture
def servers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME_OF_DATA", "/data")
    monkeypatch.setenv("TICKETS", "the-key-of-tickets")

    def read(content, **table):
        (tmp_path / "mcp.json").write_text(content if isinstance(content, str) else json.dumps(content))
        return McpSettings.model_validate({"config": "mcp.json", **table}).all()

    return read


def test_files_of_other_programs_are_read_as_they_are(servers, tmp_path):
    files = servers(CLAUDE)["files"]
    assert (files.transport, files.args[-1], files.env["A"]) == ("stdio", "/data", "1")
    tickets = servers(CURSOR)["tickets"]
    assert (tickets.transport, tickets.headers["X-Key"].get_secret_value()) == ("http", "the-key-of-tickets")
    found = servers(VS_CODE)
    assert found["tickets"].transport == "sse"
    assert found["here"].cwd == tmp_path
    gemini = {
        "mcpServers": {"x": {"httpUrl": "https://x", "includeTools": ["a"], "excludeTools": ["b"], "trust": True}}
    }
    assert [servers(gemini)["x"].offers(tool) for tool in "abc"] == [True, False, False]
    seed = {"mcpServers": {"x": {"type": "sse", "url": "http://localhost:8000/sse"}}}
    assert servers(seed)["x"].transport == "sse"


def test_the_settings_go_over_the_file(servers):
    table = {"servers": {"files": {"command": "other"}, "more": {"type": "streamable-http", "url": "https://x"}}}
    found = servers(CLAUDE, **table)
    assert (found["files"].command, found["more"].transport) == ("other", "http")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "is no JSON"),
        ({"mcp": {}}, "no object `mcpServers`"),
        ({"mcpServers": {"x": {}}}, "'x': .*either a command or a url"),
        ({"mcpServers": {"x": {"command": "a", "type": "http"}}}, "goes with type stdio"),
        ({"mcpServers": {"x": {"url": "https://x", "type": "pigeon"}}}, "'x': type"),
    ],
)
def test_a_file_that_is_wrong_is_told_in_a_sentence(servers, content, problem):
    with pytest.raises(UsageError, match=problem):
        servers(content)


def test_servers_are_chosen_by_name(servers):
    settings = McpSettings.model_validate({"servers": {"a": {"command": "a"}, "b": {"command": "b", "disabled": True}}})
    assert [server.name for server in settings.chosen(["*"])] == ["a"]
    with pytest.raises(UsageError, match="no MCP server 'c'; there are: a, b"):
        settings.chosen(["c"])


def test_a_table_of_clew_toml_names_the_fault(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clew.toml").write_text('[mcp.servers.x]\ncommand = "a"\nargz = []\n')
    with pytest.raises(UsageError, match=r"mcp\.servers\.x\.argz"):
        load_settings()


def test_secrets_of_servers_are_known_and_their_addresses_shown_without_them():
    server = read_server("x", {"url": "https://ann:pass@x.example/mcp?key=1", "bearer_token": "a-long-secret-token"})
    assert server.target == "https://x.example/mcp"
    assert "a-long-secret-token" not in repr(server)


def test_secrets_in_the_file_are_kept_out_of_logs_and_checkpoints_too(tmp_path):
    env = {"GITHUB_TOKEN": "a-long-secret-token", "DATA": "/a/long/folder"}
    content = {
        "mcpServers": {"x": {"command": "x", "env": env}, "y": {"url": "https://y", "headers": {"K": "the-key"}}}
    }
    (tmp_path / "mcp.json").write_text(json.dumps(content))
    settings = Settings(mcp={"config": tmp_path / "mcp.json"})
    assert secret_settings(settings) == {"a-long-secret-token", "the-key"}
