"""Plug-ins, as distributions that are installed in a folder of their own."""

import importlib
import sys
from pathlib import Path

import pytest
from source_tree import ROOT

from clew.graphs import AGENTS
from clew.graphs.specs import BUILT_IN as SPECS
from clew.graphs.specs import agent_spec
from clew.state.errors import UsageError
from clew.state.sandbox import SandboxOptions
from clew.state.tools import ToolSettings
from clew.tools.catalog import BUILT_IN, build_tools, tool_names

WEATHER = '''
from langchain_core.tools import BaseTool, tool

class Weather(BaseTool):
    name: str = "weather"
    description: str = "Weather of a place."
    sandbox: object = None

    def _run(self, place: str) -> str:
        return f"rain in {place}"

@tool
def tide(place: str) -> str:
    """Tide of a place."""
    return f"low in {place}"
'''

AGENT = """
from clew.graphs import AgentSpec

FORECASTER = AgentSpec(name="forecaster", description="Says what comes.", system_prompt="Be brief.", tools=("weather",))
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a distribution: its modules, and its entry points by group."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def install(distribution: str, modules: dict[str, str], **groups: dict[str, str]) -> None:
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        information = tmp_path / f"{distribution}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n")
        lines = [
            line
            for group, entries in groups.items()
            for line in (f"[clew.{group}]", *(f"{name} = {value}" for name, value in entries.items()))
        ]
        (information / "entry_points.txt").write_text("\n".join(lines))
        importlib.invalidate_caches()

    yield install
    for name in set(sys.modules) - before:
        if Path(getattr(sys.modules[name], "__file__", None) or ROOT).is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.fixture
def forecast(install):
    install(
        "forecast",
        {"forecast_tools": WEATHER, "forecast_agents": AGENT},
        tools={"weather": "forecast_tools:Weather", "tide": "forecast_tools:tide"},
        agents={"forecaster": "forecast_agents:FORECASTER"},
    )


def test_tools_of_a_plugin_are_among_the_tools_and_built_like_them(forecast):
    assert tool_names() == sorted([*BUILT_IN, "tide", "weather"])
    options = SandboxOptions(backend="local")
    weather, tide = build_tools(["weather", "tide"], settings=ToolSettings(sandbox=options))
    assert weather.sandbox is options
    assert weather.invoke({"place": "Naxos"}) == "rain in Naxos"
    assert tide.invoke({"place": "Naxos"}) == "low in Naxos"


def test_agents_of_a_plugin_are_among_the_agents(forecast):
    assert list(AGENTS)[-1] == "forecaster"
    assert len(AGENTS) == len(list(AGENTS))
    assert agent_spec("forecaster").tools == ("weather",)
    with pytest.raises(UsageError, match="did you mean 'forecaster'"):
        agent_spec("forecster")


def test_a_plugin_is_imported_when_it_is_asked_for_and_not_before(forecast):
    build_tools(["terminate"])
    agent_spec("manus")
    assert not {"forecast_tools", "forecast_agents"} & set(sys.modules)
    build_tools(["weather"])
    assert {"forecast_tools", "forecast_agents"} & set(sys.modules) == {"forecast_tools"}


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
        ("def broken(:", "SyntaxError: "),
        ("raise RuntimeError('out of tea\\nat all')", "RuntimeError: out of tea;"),
        ("Thing = 5", "TypeError: 5 is neither a tool nor a class of tools"),
    ],
)
def test_a_broken_plugin_is_named_in_one_line_and_the_others_go_on(install, caplog, module, reason):
    install("rotten", {"rotten_tools": module}, tools={"rotten": "rotten_tools:Thing"})
    assert tool_names() == sorted(BUILT_IN)
    [record] = caplog.records
    assert record.message.startswith(f"The plug-in 'rotten' of rotten is broken, {reason}")
    assert "\n" not in record.message
    with pytest.raises(UsageError, match="'rotten' of rotten is broken"):
        build_tools(["rotten"])


def test_a_plugin_with_the_name_of_a_builtin_is_refused(install, caplog):
    install("thief", {"thief": WEATHER}, tools={"bash": "thief:Weather"}, agents={"manus": "thief:Weather"})
    assert tool_names() == sorted(BUILT_IN)
    assert AGENTS["manus"].tools
    assert list(AGENTS) == list(SPECS)
    assert [record.message for record in caplog.records] == [
        "The plug-in 'bash' of thief has the name of a built-in; rename it.",
        "The plug-in 'manus' of thief has the name of a built-in; rename it.",
    ]
    [bash] = build_tools(["bash"])
    assert type(bash).__module__ == "clew.tools.bash"


def test_a_name_that_two_packages_offer_is_refused(install, forecast, caplog):
    install("rival", {}, tools={"weather": "forecast_tools:Weather"})
    assert tool_names() == sorted([*BUILT_IN, "tide"])
    assert [record.message for record in caplog.records] == [
        "The plug-in 'weather' is offered by forecast and rival; uninstall all but one of them."
    ]
    with pytest.raises(UsageError, match="offered by forecast and rival"):
        build_tools(["weather"])


def test_a_tool_under_another_name_than_its_entry_point_is_refused(install):
    install("alias", {"alias": WEATHER}, tools={"climate": "alias:Weather"})
    with pytest.raises(UsageError, match="'climate' makes a tool that is called 'weather'"):
        build_tools(["climate"])
