from __future__ import annotations

from io import BytesIO
from itertools import pairwise

import pytest
from PIL import Image

from clew.graphs import AGENTS
from clew.tools.catalog import tool_names
from clew.tools.extras import PACKAGES


def test_agents_lists_every_agent_and_the_hub(clew):
    result = clew("agents")
    assert result.code == 0
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == [*AGENTS, "hub"]


def test_tools_lists_every_tool_with_its_risk(clew):
    result = clew("tools")
    assert result.code == 0
    rows = [line.split() for line in result.out.splitlines()[1:]]
    assert [row[0] for row in rows] == tool_names()
    assert {row[1] for row in rows} <= {"low", "medium", "high"}


def test_what_there_is_can_be_read_by_programs(clew):
    assert [each["name"] for each in clew("agents", "--json").events] == [*AGENTS, "hub"]
    tools = {each["name"]: each for each in clew("tools", "--json").events}
    assert list(tools) == tool_names()
    assert (tools["bash"]["risk"], "command" in tools["bash"]["arguments"]) == ("high", True)
    assert {"subject", "state", "ok", "remedy"} == set(clew("doctor", "--json").events[0])


def test_a_graph_is_drawn_as_mermaid_and_in_letters(clew):
    nodes = ("think", "act", "check_stuck", "gate", "terminate")
    for format in ("mermaid", "ascii"):
        result = clew("graph", "manus", "--format", format)
        assert result.code == 0
        assert [node for node in nodes if node not in result.out] == []


def test_the_plan_graph_is_drawn_too(clew):
    result = clew("graph", "plan")
    assert result.code == 0
    assert "record -.-> revise" in result.out


def test_the_agents_inside_a_graph_are_drawn_where_that_is_asked_for(clew):
    closed, open_ = clew("graph", "code_act"), clew("graph", "code_act", "--expand")
    assert "delegate_read_only" in closed.out
    assert "subgraph delegate_read_only" not in closed.out
    assert "subgraph delegate_read_only" in open_.out


def test_a_graph_is_drawn_as_png(clew, folder):
    result = clew("graph", "manus", "--format", "png", "--output", "drawing.png")
    assert (result.code, result.out) == (0, "wrote drawing.png\n")
    with Image.open(BytesIO((folder / "drawing.png").read_bytes())) as image:
        assert image.format == "PNG"
        assert min(image.size) > 400


def test_a_drawing_that_cannot_be_written_is_a_usage_error(clew):
    result = clew("graph", "manus", "--format", "png", "--output", "no/such/folder.png")
    assert (result.code, "no/such/folder.png" in result.err) == (2, True)


def test_doctor_names_what_is_missing_and_the_remedy(clew):
    result = clew("doctor")
    assert result.code == 1
    lines = result.out.splitlines()
    line, remedy = next(pair for pair in pairwise(lines) if pair[0].startswith("missing"))
    assert line.split()[:2] == ["missing", "model"]
    assert "CLEW_MODEL" in remedy


def test_doctor_is_content_where_nothing_is_missing(clew, script, monkeypatch):
    monkeypatch.setenv("CLEW_MODEL", script("Done."))
    result = clew("doctor")
    assert result.code == 0
    assert "missing" not in {line.split()[0] for line in result.out.splitlines()}


def test_doctor_tells_a_broken_database_and_a_home_that_cannot_be_written(clew, script, folder, monkeypatch):
    (folder / "file").write_text("no database, no folder")
    monkeypatch.setenv("CLEW_MODEL", script("Done."))
    monkeypatch.setenv("CLEW_DB", "file")
    monkeypatch.setenv("CLEW_HOME", "file/home")
    result = clew("doctor")
    assert result.code == 1
    assert [line.split()[1] for line in result.out.splitlines() if line.startswith("missing")] == ["database", "home"]


def test_doctor_tells_what_only_some_runs_need_and_how_to_get_it(clew, script, folder, monkeypatch):
    monkeypatch.setenv("CLEW_MODEL", script("Done."))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(folder))
    monkeypatch.setattr("clew.tools.browser.finding.APPLICATIONS", ())
    result = clew("doctor")
    assert result.code == 0
    pairs = [(line.split(), below) for line, below in pairwise(result.out.splitlines()) if not line.startswith(" ")]
    found = {words[1]: (words[0], below) for words, below in pairs}
    assert "local: commands run with all of your rights" in result.out
    remedies = {"sandbox": "install the package bubblewrap", "browser": "playwright install", "encrypted": "CLEW_ENC"}
    for subject, remedy in remedies.items():
        assert found[subject][0] == "limited"
        assert remedy in found[subject][1]


@pytest.mark.needs("bwrap")
def test_doctor_names_the_sandbox_that_works_and_the_encryption(clew, monkeypatch):
    monkeypatch.setenv("CLEW_ENCRYPTION_KEY", "sixteen or more characters")
    out = clew("doctor").out
    assert "ok       sandbox   bubblewrap" in out
    assert "ok       encrypted with the key in CLEW_ENCRYPTION_KEY" in out
    assert "sixteen" not in out
    monkeypatch.setenv("CLEW_ENCRYPTION_KEY", "short")
    monkeypatch.setenv("CLEW_SANDBOX__BACKEND", "bubblewrap")
    monkeypatch.setenv("PATH", "")
    result = clew("doctor")
    assert result.code == 1
    lines = result.out.splitlines()
    assert {"missing  encrypted not usable", "missing  sandbox   not usable"} <= set(lines)


def test_doctor_prints_no_secret(clew, monkeypatch):
    monkeypatch.setenv("CLEW_MODEL", "openai:gpt-5")
    monkeypatch.setenv("OPENAI_API_KEY", "top-secret-1")
    assert "top-secret-1" not in clew("doctor").out


def test_tools_whose_packages_are_missing_are_listed_with_how_to_get_them(clew, monkeypatch):
    monkeypatch.setitem(PACKAGES, "web", ("searching_of_nobody",))
    rows = {line.split()[0]: line for line in clew("tools").out.splitlines()}
    assert rows["web_fetch"].endswith("not installed: pip install 'clew[web]'")
    assert "not installed" not in rows["bash"]
    assert "web_search" not in clew("agents").out
    doctor = clew("doctor").out
    assert "limited  tools" in doctor
    assert "for web_fetch, web_search: pip install 'clew[web]'" in doctor
