"""The CodeAct agent mends a real repository with all of its tools. Its scripted models work from what these return."""

import json

import pytest
from browser_pages import Site
from langchain_core.messages import SystemMessage, ToolMessage
from small_repository import TEST_COMMAND, changed_files, found, make_repository, run_tests

from clew.graphs import AGENTS, create_agent
from clew.models.scripted import ScriptedModel
from clew.state.delegation import DelegateReport
from clew.state.settings import Settings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources
from clew.tools.traits import traits_of


def call(name, content="", **args):
    return {"content": content, "tool_calls": [{"name": name, "args": args}]}


def results_in(messages):
    return [message.text for message in messages if isinstance(message, ToolMessage)]


TOTALS = """
from shop.prices import total
kinds = ["tools", "books", "food"]
totals = [total([(100, kind) for kind in kinds[:count]]) for count in range(4)]
"""


def agent(messages, tools):
    """Says what each of the two agents does next, by its system prompt and the results so far."""
    system = next(message.text for message in messages if isinstance(message, SystemMessage))
    results = results_in(messages)
    return reader(messages, results) if "change nothing" in system else coder(results)


def coder(results):
    match len(results):
        case 0:
            return call("bash", "I keep the command and run it.", command=f'TESTS="{TEST_COMMAND}"; $TESTS')
        case 1:
            test = found(r"^FAIL: (\w+)", results[0])
            task = "Which function does the test call, and in which file does it stand?"
            return call("delegate", agent="read_only", task=task, inputs={"test": test})
        case 2:
            return call("python_execute", "I compute totals.", code=TOTALS, stateful=True)
        case 3:
            code = "[round(after - before, 2) for before, after in zip(totals, totals[1:])]"
            return call("python_execute", "What does each entry add?", code=code, stateful=True)
        case 4:
            added = json.loads(found(r"(\[.*\])", results[3]))
            assert added == [0, 107.0, 107.0], "the first entry adds nothing"
            return call("str_replace_editor", command="view", path=found(r"file: (\S+)", results[1]))
        case 5:
            path, line = found(r"file: (\S+)", results[1]), found(r"\t(.*\[1:\].*)$", results[4])
            edit = {"old_str": line, "new_str": line.replace("[1:]", "")}
            return call("str_replace_editor", "The first is skipped.", command="str_replace", path=path, **edit)
        case 6:
            return call("bash", "I run the tests again in the same shell.", command="$TESTS")
        case 7:
            passed = found(r"^(OK|FAILED)", results[6])
            outputs = {"function": found(r"function: (\w+)", results[1]), "tests": passed}
            return call("terminate", status="success" if passed == "OK" else "failure", answer=passed, outputs=outputs)
    raise AssertionError("the coder had ended")


def reader(messages, results):
    match len(results):
        case 0:
            test = found(r"^- test: (\w+)", messages[1].text)
            return call("file_search", pattern=rf"def {test}\b", glob="*.py")
        case 1:
            line = int(found(r":(\d+): ", results[0]))
            return call("file_view", path=found(r"^(.+?):\d+: ", results[0]), view_range=[line, line + 1])
        case 2:
            function = found(r"assertEqual\((\w+)", results[1])
            return call("file_search", pattern=rf"def {function}\b")
        case 3:
            outputs = {"file": found(r"^(.+?):\d+: ", results[2]), "function": found(r"def (\w+)", results[2])}
            return call("terminate", status="success", answer="Found.", outputs=outputs)
    raise AssertionError("the reader had ended")


@pytest.fixture
async def repository(tmp_path):
    yield make_repository(tmp_path / "repository")
    await resources().close_all()


def test_its_tools_are_code_an_editor_a_browser_and_other_agents():
    spec = AGENTS["code_act"]
    assert spec.tools[:4] == ("bash", "python_execute", "str_replace_editor", "delegate")
    assert spec.optional_tools == ("browser_use",)


async def test_it_mends_a_repository_with_what_it_computes_and_what_its_delegate_reads(repository, tmp_path):
    assert not run_tests(repository)[0]
    graph = create_agent(
        "code_act", model=ScriptedModel(reply=agent), settings=Settings(home=tmp_path), workspace=repository
    )
    state = await graph.ainvoke({"messages": [("user", "A test fails. Mend the program.")]})
    assert (state["status"], state["outcome"].success) == ("finished", True)
    assert state["outcome"].outputs == {"function": "total", "tests": "OK"}
    [artifact] = [message.artifact for message in state["messages"] if message.name == "delegate"]
    report = DelegateReport.model_validate(artifact)
    assert (report.agent, report.iterations, report.outputs["file"]) == ("read_only", 4, "shop/prices.py")
    assert (state["progress"]["steps"], state["progress"]["iteration"]) == (8, 12)
    assert run_tests(repository)[0]
    assert changed_files(repository) == ["shop/prices.py"]


STARS = "tell me how many GitHub stars OpenHands repo has"


def asks_the_web(messages, tools):
    """The conversation of the seed's example, between the CodeAct agent and the browser agent."""
    system = next(message.text for message in messages if isinstance(message, SystemMessage))
    results = results_in(messages)
    if "You are a browser agent" not in system:
        if not results:
            inputs = {"address": found(r"\((http\S+)\)", messages[1].text)}
            said = "I should request help from BrowsingAgent"
            return call("delegate", said, agent="browser", task=STARS, inputs=inputs)
        answer = found(r"stars: (\d+)", results[0])
        return call("terminate", "I got the answer from BrowsingAgent", status="success", answer=answer)
    if not results:
        address = found(r"^- address: (\S+)", messages[1].text)
        return call("browser_use", "Let me find the answer on GitHub", action="go_to_url", url=address)
    page = "\n".join(message.text for message in messages[-2:])
    stars = int(found(r"([\d,]+) stars", page).replace(",", ""))
    return call("terminate", "I found the answer", status="success", answer="Found.", outputs={"stars": stars})


@pytest.mark.needs("chromium")
async def test_it_asks_the_browser_agent_as_in_the_example_of_the_seed(tmp_path):
    (tmp_path / "site").mkdir()
    site = Site(tmp_path / "site")
    address = site.page("<h1>OpenHands</h1><a href=/stars>65,012 stars</a>", title="OpenHands")
    settings = Settings(home=tmp_path / "home", network={"allowed_hosts": ["127.0.0.1"]})
    graph = create_agent("code_act", model=ScriptedModel(reply=asks_the_web), settings=settings, workspace=tmp_path)
    counted = []
    try:
        async for namespace, part in graph.astream(
            {"messages": [("user", f"{STARS} ({address})")]}, stream_mode="tasks", subgraphs=True
        ):
            if part["name"] == "think" and "result" in part:
                progress = part["result"]["progress"]
                counted.append((progress["level"], progress["iteration"] - 1, progress["steps"] - 1))
            elif part["name"] == "terminate" and "result" in part and not namespace:
                outcome = part["result"]["outcome"]
    finally:
        site.close()
        await resources().close_all()
    # DELEGATE_LEVEL, ITERATION, LOCAL_ITERATION
    assert counted == [(0, 0, 0), (1, 1, 0), (1, 2, 1), (0, 3, 1)]
    assert (outcome.success, outcome.answer) == (True, "65012")


def test_the_agents_that_only_look_have_no_tool_that_changes_anything():
    for name in ("read_only", "repo_study"):
        spec = AGENTS[name]
        assert {traits_of(tool).risk for tool in build_tools([*spec.tools, *spec.optional_tools])} == {"low"}
