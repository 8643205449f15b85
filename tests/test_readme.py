"""The README, executed: its code runs against a server like the real one, and what it lists is what there is."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from typing import get_args

import pytest
from source_tree import ROOT
from strict_openai import StrictOpenAI

from clew.apps.cli import exit_codes
from clew.apps.cli.arguments import build_parser
from clew.state.outcome import Status

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def answer(request, number):
    """A model that can do what the README asks for: plan, call the tool it was given, answer."""
    names = [tool["function"]["name"] for tool in request.get("tools", [])]
    if request["messages"][-1]["role"] == "tool":
        return f"The answer is {request['messages'][-1]['content']}."
    if "stock" in names:
        return {"tool_calls": [{"name": "stock", "args": {"article": "lamp"}}]}
    if names == ["planning"]:
        steps = ["[MANUS] measure the disk use", "[WRITER] describe it"]
        return {"tool_calls": [{"name": "planning", "args": {"command": "create", "title": "Disk", "steps": steps}}]}
    return "Done."


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with StrictOpenAI(answer, api_key="key") as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "key")
        yield running


async def execute(code):
    """Run code as a notebook does, where `await` may stand at the top."""
    compiled = compile(code, "README.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(compiled, {"__name__": "__main__"})
    if inspect.isawaitable(result):
        await result


async def said_by(code, capsys):
    await execute(code)
    return capsys.readouterr().out


async def test_the_notebook_code_runs_a_task_and_lists_its_history(server, capsys, tmp_path):
    out = await said_by(blocks("python")[0], capsys)
    assert out.startswith("finished Done.\n")
    assert "('think',)" in out
    assert (tmp_path / "threads.db").is_file()


def test_the_embedding_code_puts_an_agent_into_a_graph(server, capsys):
    exec(compile(blocks("python")[1], "README.md", "exec"), {})
    assert capsys.readouterr().out == "The answer is 12.\n"


async def test_the_plan_code_carries_out_a_plan(server, capsys):
    assert "2/2 steps completed (100.0%)" in await said_by(blocks("python")[2], capsys)


def test_there_is_no_python_code_that_no_test_runs():
    assert len(blocks("python")) == 3


def test_every_command_is_in_the_table_and_no_other():
    shown = set(re.findall(r"`clew ([a-z]+)", README.partition("## The command line")[2].partition("##")[0]))
    shown -= {"COMMAND"}
    assert shown == set(build_parser()._subparsers._group_actions[0].choices)


def takes_json(parser):
    inner = parser._subparsers._group_actions[0].choices.values() if parser._subparsers else ()
    return "--json" in parser._option_string_actions or any(map(takes_json, inner))


def test_every_command_that_prints_json_is_named_and_no_other():
    sentence = README.partition("With `--json`, ")[2].partition("\n\n")[0]
    commands = build_parser()._subparsers._group_actions[0].choices
    speaking = {name for name, parser in commands.items() if takes_json(parser)}
    assert set(re.findall(r"`([a-z]+)`", sentence)) - {"end"} == speaking


def test_the_exit_codes_are_those_of_the_command_line():
    codes = {value for name, value in vars(exit_codes).items() if name.isupper() and isinstance(value, int)}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)} == codes


def test_every_status_is_explained():
    table = README.partition("| status |")[2].partition("##")[0]
    assert set(re.findall(r"`([a-z]+)`", table)) == {*get_args(Status), "interrupted"}


def test_the_drawing_is_what_the_command_draws():
    command = [sys.executable, "-m", "clew.apps.cli.main", "graph", "manus", "--format", "mermaid"]
    drawn = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert blocks("mermaid") == [f"{drawn.strip()}\n"]


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#]+)\)", README))))
def test_every_link_into_the_repository_leads_to_a_file(link):
    assert link.startswith("https://") or (ROOT / link).is_file()


def test_the_extras_that_are_named_exist():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name for group in re.findall(r"(?:clew|\.)\[([a-z,]+)\]", README) for name in group.split(",")}
    assert named <= set(extras)
    assert named


def test_the_targets_of_make_that_are_named_exist():
    rules = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"^make ([a-z]+)", README, re.MULTILINE)) <= rules
