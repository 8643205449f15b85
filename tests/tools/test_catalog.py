import json
import os
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from clew.state.errors import UsageError
from clew.tools.base import SandboxedTool, WorkspaceTool
from clew.tools.catalog import build_tools, open_tools, tool_names
from clew.tools.extras import PACKAGES
from clew.tools.resources import Scope, resources
from clew.tools.traits import traits_of

GOLDEN = Path(__file__).parent / "golden"

PAGE = Path(__file__).parents[2] / "docs" / "tools.md"


@pytest.mark.parametrize("name", tool_names())
def test_every_name_builds_a_tool_of_that_name_and_opens_nothing(name, tmp_path):
    [tool] = build_tools([name], workspace=tmp_path / "workspace")
    assert isinstance(tool, BaseTool)
    assert tool.name == name
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", tool_names())
def test_every_tool_says_what_a_call_may_break(name):
    [tool] = build_tools([name])
    assert traits_of(tool).risk != "unknown"


@pytest.mark.parametrize("name", tool_names())
def test_the_schema_that_a_model_sees_is_the_golden_one(name):
    """Set UPDATE_GOLDEN=1 to write the schemas anew, then look at the difference."""
    [tool] = build_tools([name])
    schema = json.dumps(convert_to_openai_tool(tool)["function"], indent=2, ensure_ascii=False) + "\n"
    file = GOLDEN / f"{name}.json"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(schema, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == schema


@pytest.mark.parametrize("name", tool_names())
def test_every_argument_has_a_description(name):
    [tool] = build_tools([name])
    properties = convert_to_openai_tool(tool)["function"]["parameters"]["properties"]
    assert [key for key, value in properties.items() if not value.get("description")] == []


def test_the_golden_schemas_are_those_of_the_tools():
    assert sorted(file.stem for file in GOLDEN.glob("*.json")) == tool_names()


def test_an_unknown_name_is_refused_with_the_nearest_ones_and_the_list():
    with pytest.raises(UsageError, match=r"no tool 'bas'.*python_execute.*did you mean bash\?"):
        build_tools(["terminate", "bas"])


def test_a_tool_whose_package_is_missing_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(PACKAGES, "browser", ("playwright_of_nobody",))
    with pytest.raises(
        UsageError, match=r"needs the package 'playwright_of_nobody'; install it with .*clew\[browser\]"
    ):
        build_tools(["browser_use"])


def test_tools_come_in_the_order_of_their_names():
    assert [tool.name for tool in build_tools(["terminate", "bash"])] == ["terminate", "bash"]


async def test_a_lease_closes_what_its_tools_opened(tmp_path):
    config = {"configurable": {"thread_id": "t"}}
    async with open_tools(["bash"], workspace=tmp_path) as [bash]:
        await bash.ainvoke({"command": "X=5"}, config)
        await bash.ainvoke({"command": "X=5"})
        assert sorted(resources().kinds(Scope("t"))) == ["sandbox", "shell"]
    assert len(resources()) == 0


def table() -> str:
    """The table of `docs/tools.md`, as the tools have it."""
    rows = ["| tool | arguments | risk | beside others | again after a crash | works in |", "|---|---|---|---|---|---|"]
    for tool in build_tools(tool_names()):
        schema = convert_to_openai_tool(tool)["function"]["parameters"]
        required = schema.get("required", [])
        names = ", ".join(f"`{name}`" if name in required else f"[`{name}`]" for name in schema["properties"])
        traits = traits_of(tool)
        cells = [f"`{tool.name}`", names, traits.risk, yes(traits.parallel), yes(traits.idempotent), works_in(tool)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def works_in(tool: BaseTool) -> str:
    if isinstance(tool, SandboxedTool):
        return "sandbox"
    if tool.name == "browser_use":
        return "browser"
    return "workspace" if isinstance(tool, WorkspaceTool) else "clew"


def yes(value: bool) -> str:
    return "yes" if value else "no"


def test_the_page_of_the_tools_has_each_with_its_arguments_risk_and_sandbox():
    """Set UPDATE_GOLDEN=1 to write the table anew."""
    before, start, rest = PAGE.read_text(encoding="utf-8").partition("<!-- tools -->\n")
    _, end, after = rest.partition("\n<!-- end -->")
    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(before + start + table() + end + after, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == before + start + table() + end + after
