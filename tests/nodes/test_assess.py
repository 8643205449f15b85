"""Which calls wait for a person, and what the person is shown of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from clew.graphs import AgentSpec, RunContext, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.sandbox import SandboxOptions
from clew.state.settings import Settings
from clew.tools.catalog import build_tools
from clew.tools.traits import Traits

THREAD = {"configurable": {"thread_id": "t"}}
TASK = {"messages": [("user", "do it")]}


class Gate(StructuredTool):
    """A tool whose calls differ in what they may break."""

    async def assess(self, config, arguments):
        assert config["configurable"]["thread_id"] == "t"
        assert Path(config["configurable"]["workspace"]).is_absolute()
        return {"look": "low", "open": "medium", "burn": "high"}.get(arguments.get("action"), "unknown")


def gate():
    def use(action: str) -> str:
        """Use the gate."""
        return action

    made = Gate.from_function(use, name="gate")
    made.metadata = Traits(risk="low").metadata()
    return made


async def run(*calls, tools, confirm="risky", tmp_path, **context):
    given = [{"name": name, "args": args, "id": f"c{place}"} for place, (name, args) in enumerate(calls)]
    graph = create_agent(
        AgentSpec(name="tester", tools=[each.name for each in tools]),
        model=ScriptedModel(replies=[AIMessage("", tool_calls=given), "Done."]),
        tools=tools,
        checkpointer=InMemorySaver(),
        settings=Settings(home=tmp_path),
        workspace=tmp_path / "w",
        confirm=confirm,
    )
    state = await graph.ainvoke(TASK, THREAD, context=RunContext(**context))
    asked = [call for pending in state.get("__interrupt__", []) for call in pending.value["data"]["calls"]]
    return graph, asked


async def test_the_risk_is_that_of_the_very_call_where_the_tool_can_tell(tmp_path):
    calls = [("gate", {"action": action}) for action in ("look", "open", "burn", "dance")]
    _, asked = await run(*calls, tools=[gate()], tmp_path=tmp_path)
    assert [(call["args"]["action"], call["risk"]) for call in asked] == [("burn", "high"), ("dance", "unknown")]


async def test_the_browser_is_assessed_by_its_action(tmp_path):
    pytest.importorskip("playwright")
    calls = [
        ("browser_use", {"action": "scroll_down"}),
        ("browser_use", {"action": "go_to_url", "url": "https://example.com"}),
        ("browser_use", {"action": "upload_file", "index": 1, "path": "secrets.txt"}),
        ("browser_use", {"action": "click_element", "index": 3}),
    ]
    _, asked = await run(*calls, tools=build_tools(["browser_use"]), tmp_path=tmp_path)
    assert [call["kind"] for call in asked] == [
        "browser_use upload_file (high risk)",
        "browser_use click_element (unknown risk)",
    ]
    _, asked = await run(*calls, tools=build_tools(["browser_use"]), confirm="always", tmp_path=tmp_path)
    assert asked[1]["preview"] == {"language": "url", "text": "https://example.com", "arguments": ["url"]}


async def test_a_call_that_runs_nothing_is_not_asked_about(tmp_path):
    graph, asked = await run(("nothing", {}), ("gate", {"action": "burn"}), tools=[gate()], tmp_path=tmp_path)
    assert [call["name"] for call in asked] == ["gate"]
    state = await graph.ainvoke(Command(resume="approve"), THREAD)
    assert "there is no tool `nothing`" in state["messages"][2].text + state["messages"][3].text


async def test_a_call_with_arguments_that_do_not_fit_is_asked_about_all_the_same(tmp_path):
    """Whether it will run is for the tool to say: what is not asked about must be known to be harmless."""
    _, asked = await run(("gate", {"actions": "burn"}), tools=[gate()], tmp_path=tmp_path)
    assert [call["args"] for call in asked] == [{"actions": "burn"}]


async def test_a_long_command_is_shown_with_its_head_and_tail_and_kept_whole_in_the_arguments(tmp_path):
    command = "echo begin; " + "x" * 50_000 + "; echo end"
    _, (call,) = await run(("bash", {"command": command}), tools=build_tools(["bash"]), tmp_path=tmp_path)
    assert call["args"]["command"] == command
    assert len(call["preview"]["text"]) < 21_000
    assert call["preview"]["text"].startswith("echo begin")
    assert call["preview"]["text"].endswith("echo end")


@tool
def stock(article: str) -> int:
    """Of unknown risk, and of no business of a sandbox."""
    return len(article)


@pytest.mark.parametrize(
    ("backend", "names", "asked"),
    [("local", ["bash"], ["bash", "stock"]), ("local", ["file_search"], []), ("bubblewrap", ["bash"], [])],
)
async def test_by_default_risky_calls_are_asked_about_where_no_sandbox_contains(tmp_path, backend, names, asked):
    own = build_tools(names, settings=tool_settings(backend))
    arguments = {"bash": {"command": "true"}, "file_search": {"glob": "*"}}
    calls = [*((name, arguments[name]) for name in names), ("stock", {"article": "lamp"})]
    _, found = await run(*calls, tools=[*own, stock], confirm=None, tmp_path=tmp_path)
    assert [call["name"] for call in found] == asked


def tool_settings(backend):
    from clew.state.tools import ToolSettings

    return ToolSettings(sandbox=SandboxOptions(backend=backend))
