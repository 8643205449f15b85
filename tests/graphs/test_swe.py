"""The SWE agent mends a real repository. Its scripted model takes every edit from what the tools return."""

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from pydantic import BaseModel, ConfigDict
from small_repository import TEST_COMMAND, changed_files, found, make_repository, run_tests

from clew.graphs import AGENTS, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.settings import Settings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources


def call(name, content="", **args):
    return {"content": content, "tool_calls": [{"name": name, "args": args}]}


def engineer(messages, tools):
    """What an engineer does next, given the results so far."""
    results = [message.text for message in messages if isinstance(message, ToolMessage)]
    match len(results):
        case 0:
            return call("bash", "I run the tests to see what fails.", command=TEST_COMMAND)
        case 1:
            test = found(r"^FAIL: (\w+)", results[0])
            return call("file_search", f"{test} fails: I look for it.", pattern=rf"def {test}\b", glob="*.py")
        case 2:
            path, line = found(r"^(.+):\d+: ", results[1]), int(found(r":(\d+): ", results[1]))
            return call("str_replace_editor", command="view", path=path, view_range=[line, line + 1])
        case 3:
            function = found(r"assertEqual\((\w+)\(", results[2])
            return call("file_search", f"{function}() is wrong: where is it?", pattern=rf"def {function}\b")
        case 4:
            return call("str_replace_editor", command="view", path=found(r"^(.+):\d+: def", results[3]))
        case 5:
            path, line = found(r"^(.+):\d+: def", results[3]), found(r"\t(.*\[1:\].*)$", results[4])
            edit = {"old_str": line, "new_str": line.replace("[1:]", "")}
            return call("str_replace_editor", "The loop skips one.", command="str_replace", path=path, **edit)
        case 6:
            return call("bash", "I run the tests again.", command=TEST_COMMAND)
        case 7:
            passed = found(r"^(OK|FAILED)", results[6])
            status = "success" if passed == "OK" else "failure"
            return call("terminate", status=status, answer=f"The tests say {passed}. I changed {results[5][7:22]}")
    raise AssertionError("the engineer had ended")


@pytest.fixture
async def repository(tmp_path):
    yield make_repository(tmp_path / "repository")
    await resources().close_all()


def test_its_tools_are_those_of_an_engineer():
    assert AGENTS["swe"].tools == ("bash", "str_replace_editor", "file_search", "terminate")


async def test_it_mends_a_repository_with_a_failing_test(repository, tmp_path):
    passed, said = run_tests(repository)
    assert not passed
    assert "FAIL: test_a_basket_costs_what_is_in_it" in said
    graph = create_agent(
        "swe", model=ScriptedModel(reply=engineer), settings=Settings(home=tmp_path), workspace=repository
    )
    state = await graph.ainvoke({"messages": [("user", "A test fails. Mend the program.")]})
    assert (state["status"], state["outcome"].success) == ("finished", True)
    assert state["outcome"].answer == "The tests say OK. I changed shop/prices.py:"
    assert state["progress"]["steps"] == 8
    assert run_tests(repository)[0]
    assert changed_files(repository) == ["shop/prices.py"]


@pytest.mark.parametrize("name", ["bash", "str_replace_editor", "file_search"])
async def test_with_a_tool_that_does_nothing_it_mends_nothing(name, repository, tmp_path):
    async def nothing(**arguments):
        return "done"

    broken = StructuredTool.from_function(
        coroutine=nothing, name=name, description="Nothing.", args_schema=AnyArguments
    )
    tools = [broken if each == name else build_tools([each])[0] for each in AGENTS["swe"].tools]
    graph = create_agent(
        "swe", model=ScriptedModel(reply=engineer), tools=tools, settings=Settings(home=tmp_path), workspace=repository
    )
    with pytest.raises(AssertionError, match="is not in what the tool returned:\ndone"):
        await graph.ainvoke({"messages": [("user", "A test fails. Mend the program.")]})
    assert not run_tests(repository)[0]


class AnyArguments(BaseModel):
    model_config = ConfigDict(extra="allow")
