"""`clew.example.toml` shows every setting, and is right."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from source_tree import ROOT

from clew.state.browser import BrowserSettings, Credential, Proxy, Viewport
from clew.state.limits import RunLimits
from clew.state.mcp import McpOAuth, McpServer, McpSettings
from clew.state.remote_agents import RemoteSettings
from clew.state.sandbox import DaytonaOptions, DockerOptions, Limits, SandboxOptions
from clew.state.serving import ServeSettings
from clew.state.settings import ModelSettings, Price, RunFlowSettings, Settings, load_settings
from clew.state.telemetry import TelemetrySettings
from clew.state.tools import PythonSettings
from clew.state.web import FetchSettings, NetworkSettings, SearchSettings

EXAMPLE = (ROOT / "clew.example.toml").read_text(encoding="utf-8")

FILLED_IN = re.sub(r"(?m)^#(?=\S)", "", EXAMPLE)
"""The example with every setting taken out of its comment."""


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Read settings as a user does who has this file in the current folder."""

    def read(text: str) -> Settings:
        (tmp_path / "clew.toml").write_text(text, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        return load_settings()

    return read


def test_the_example_as_it_stands_changes_nothing(read) -> None:
    assert read(EXAMPLE) == read("")


def test_every_setting_in_the_example_is_valid(read) -> None:
    settings = read(FILLED_IN)
    assert settings.model_settings().base_url == "http://localhost:11434/v1"
    assert settings.model_settings("small").temperature == 0.2
    assert settings.prices["openai:gpt-5"].output == 10.0


@pytest.mark.parametrize(
    ("model", "table"),
    [
        (Settings, []),
        (ModelSettings, ["llm"]),
        (RunFlowSettings, ["runflow"]),
        (RunLimits, ["limits"]),
        (SandboxOptions, ["sandbox"]),
        (Limits, ["sandbox", "limits"]),
        (DockerOptions, ["sandbox", "docker"]),
        (PythonSettings, ["python"]),
        (DaytonaOptions, ["sandbox", "daytona"]),
        (NetworkSettings, ["network"]),
        (SearchSettings, ["search"]),
        (FetchSettings, ["fetch"]),
        (BrowserSettings, ["browser"]),
        (Viewport, ["browser", "viewport"]),
        (Proxy, ["browser", "proxy"]),
        (Credential, ["browser", "credentials", "shop"]),
        (ServeSettings, ["serve"]),
        (McpSettings, ["mcp"]),
        (McpOAuth, ["mcp", "servers", "tickets", "oauth"]),
        (TelemetrySettings, ["telemetry"]),
        (RemoteSettings, ["remotes", "crete"]),
        (Price, ["prices", "openai:gpt-5"]),
    ],
    ids=lambda value: ".".join(value) or "top" if isinstance(value, list) else "",
)
def test_the_example_shows_every_field(model: type, table: list[str]) -> None:
    shown = tomllib.loads(FILLED_IN)
    for name in table:
        shown = shown[name]
    missing = set(model.model_fields) - set(shown)
    assert not missing, f"add to clew.example.toml, with a line that explains it: {', '.join(sorted(missing))}"


def test_the_example_shows_every_field_of_an_mcp_server() -> None:
    files, tickets = tomllib.loads(FILLED_IN)["mcp"]["servers"].values()
    assert set(McpServer.model_fields) == {"name", *files, *tickets}


def test_defaults_in_the_example_are_the_defaults(read) -> None:
    table = tomllib.loads(FILLED_IN)["llm"]
    assert read(FILLED_IN).home == Settings().home
    for name in ("api_type", "vision", "timeout", "max_retries"):
        assert table[name] == ModelSettings.model_fields[name].default, name
    assert read(FILLED_IN).python == Settings().python
    examples = {"provider": True, "daytona": {"api_key", "api_url", "target"}}
    assert read(FILLED_IN).sandbox.model_dump(exclude=examples) == SandboxOptions().model_dump(exclude=examples)
    assert read(FILLED_IN).network == Settings().network
    assert read(FILLED_IN).fetch == Settings().fetch
    examples = {name for name in SearchSettings.model_fields if name.endswith(("_key", "_id", "_url"))}
    assert read(FILLED_IN).search.model_dump(exclude=examples) == SearchSettings().model_dump(exclude=examples)
    examples = {"executable", "cdp_url", "wss_url", "profile", "proxy", "credentials"}
    assert read(FILLED_IN).browser.model_dump(exclude=examples) == BrowserSettings().model_dump(exclude=examples)


def test_every_setting_in_the_example_is_explained() -> None:
    lines = EXAMPLE.splitlines()
    bare = [
        line
        for above, line in zip(["", *lines], lines, strict=False)
        if re.match(r"#\w", line) and not above.startswith("#") and not above.startswith("# ")
    ]
    assert not bare, f"put a comment above: {bare}"
