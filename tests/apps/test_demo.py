"""The demo, run for real: what it makes is compared with the environment, what it claims with its checkpoints."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64encode
from datetime import datetime
from importlib.metadata import distribution
from pathlib import Path

import pytest

from clew.apps.demo import script
from clew.apps.demo.evidence import read_evidence
from clew.apps.demo.programs import report
from clew.apps.demo.show import Moment
from clew.apps.session import open_session
from clew.checkpoints.open import open_saver
from clew.state.sandbox import SandboxOptions
from clew.state.settings import Settings
from clew.state.stream import ToolEndEvent, ToolStartEvent
from clew.tools.sandbox.choice import describe_backend

pytestmark = pytest.mark.timeout(300)

SETTINGS = """
db = "mine.db"
workspace = "mine"
[runflow]
parallel = 1
"""
"""Of a person who runs the demo in a folder of their own; the demo heeds none of them."""

CLEW = [sys.executable, "-m", "clew.apps.cli.main"]

OF_OURS = ("pydantic", "langgraph", "langchain-core", "rich")
"""Packages that clew needs, so that they are installed wherever this runs."""


class Demo:
    """A demo that has run."""

    def __init__(self, folder: Path) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("CLEW_", "OPENAI_"))}
        done = subprocess.run([*CLEW, "demo"], cwd=folder, env=own, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr
        self.out = done.stdout
        self.home = folder / ".clew" / "demo"
        self.thread = re.findall(r"^thread (demo-\w+), ", self.out, re.MULTILINE)[0]
        self.workspace = self.home / self.thread

    def read(self, name):
        return json.loads((self.workspace / name).read_text())

    async def runs(self):
        """Seconds since 1970 at which each run wrote its first checkpoint, of the plan or of a step, in order."""
        async with open_saver(str(self.home / "clew.db")) as saver:
            place = {"configurable": {"thread_id": self.thread}}
            saved = [(item.checkpoint["ts"], item.metadata["run_id"]) async for item in saver.alist(place)]
        first = {run: written for written, run in sorted(saved, reverse=True)}
        return sorted(datetime.fromisoformat(written).timestamp() for written in first.values())


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a-folder") / "with a space"
    folder.mkdir()
    (folder / "clew.toml").write_text(SETTINGS)
    return Demo(folder)


def test_the_inventory_says_what_the_metadata_says(demo):
    packages = {package["name"]: package for package in demo.read("inventory.json")}
    for name in OF_OURS:
        known = distribution(name)
        sizes = [place.stat().st_size for file in known.files or () if (place := Path(file.locate())).is_file()]
        assert packages[name]["version"] == known.version
        assert (packages[name]["files"], packages[name]["bytes"]) == (len(sizes), sum(sizes))
    assert "pydantic-core" in packages["pydantic"]["requires"]
    assert packages["rich"]["licence"] == "MIT"


def test_the_report_shows_what_was_measured_and_needs_no_other_file(demo):
    page = (demo.workspace / "report.html").read_text()
    packages = demo.read("inventory.json")
    assert [int(size) for size in re.findall(r'data-bytes="(\d+)"', page)] == sorted(
        (package["bytes"] for package in packages), reverse=True
    )
    assert f'<div id="packages"><b>{len(packages)}</b>' in page
    assert f"<b>{len(demo.read('dependencies.json')['edges'])}</b>dependencies" in page
    assert page.count("<svg") == 3
    assert re.findall(r"(?:src|href)=.{24}|url\(|@import", page) == ['src="data:image/svg+xml;base']
    [chart] = (demo.workspace / "visualization").glob("*.svg")
    assert b64encode(chart.read_bytes()).decode() in page
    widest = max(packages, key=lambda package: package["bytes"])
    assert widest["name"] in chart.read_text()


async def test_python_ran_in_the_sandbox_that_is_named(demo):
    contained = (await describe_backend(SandboxOptions())).contained
    assert demo.out.count("bubblewrap: commands see the workspace and no other file") == (2 if contained else 0)


def test_the_dependencies_are_those_of_the_inventory(demo):
    found = demo.read("dependencies.json")
    assert ["langgraph", "langchain-core"] in found["edges"]
    counts = dict(map(tuple, found["used_by"]))
    assert counts["pydantic"] == sum(needed == "pydantic" for _, needed in found["edges"])
    assert "pydantic" not in found["roots"]


def test_what_fills_the_disk_adds_up_to_the_inventory(demo):
    total = sum(size for _, size in demo.read("disk.json")["kinds"])
    assert total == pytest.approx(sum(package["bytes"] for package in demo.read("inventory.json")), rel=0.01)


async def test_two_processes_ran_the_plan_and_the_first_was_killed(demo):
    assert re.search(r"kill -9 \d+: the process is dead \(killed by signal 9\)", demo.out)
    assert len(await demo.runs()) == 2
    async with open_session(Settings(home=demo.home)) as session:
        view = await session.view(await session.registry.get(demo.thread))
    assert (view.status, view.success) == ("finished", True)


async def test_what_was_complete_at_the_crash_did_not_run_again(demo):
    # A second run of a program would have written its file again.
    _, resumed = await demo.runs()
    written = {path.name: path.stat().st_mtime for path in demo.workspace.iterdir()}
    assert written["inventory.json"] < resumed < written["report.html"]
    assert any(written[name] < resumed for name in ("dependencies.json", "disk.json"))
    steps = await read_evidence(demo.home, demo.thread)
    assert [step.standing for step in steps] == ["completed"] * 4
    assert len(steps[0].saved) == 3, "two calls of tools and the end, each once"


def test_what_it_says_of_repetition_are_the_numbers_of_the_checkpoints(demo):
    told = demo.out.partition("What was repeated")[2]
    rows = dict(re.findall(r"^(s\d)  .*?\s{2,}(\d+ +\d+)", told, re.MULTILINE))
    counts = {step: [int(number) for number in row.split()] for step, row in rows.items()}
    steps = asyncio.run(read_evidence(demo.home, demo.thread))
    assert {step.id: len(step.saved) for step in steps} == {name: sum(pair) for name, pair in counts.items()}
    assert counts["s1"] == [3, 0]
    assert counts["s4"][0] == 0
    assert sum(pair[1] for pair in counts.values()) < sum(map(sum, counts.values()))


def test_it_says_that_the_model_is_scripted_and_where_the_report_is(demo):
    assert "The model is scripted" in demo.out
    assert f"The report: {demo.workspace / 'report.html'}" in demo.out


def test_a_second_demo_leaves_the_first_one_and_the_threads_of_the_person_alone(demo):
    again = Demo(demo.home.parent.parent)
    assert again.thread != demo.thread
    assert (demo.workspace / "report.html").is_file()
    assert [path.name for path in demo.home.parent.iterdir()] == ["demo"]
    assert {path.name for path in demo.home.parent.parent.iterdir()} == {".clew", "clew.toml"}
    shutil.rmtree(again.workspace)


def test_the_crash_comes_when_one_analysis_is_done_and_a_program_runs():
    moment = Moment()
    begin = [ToolStartEvent(id=name, name="python_execute", args={}) for name in "abc"]
    ends = [ToolEndEvent(id=name, name="terminate", status="success", text="") for name in "xy"]
    end = ToolEndEvent(id="a", name="python_execute", status="success", text="")
    assert [moment.is_ripe(event) for event in [begin[0], end, ends[0], begin[1], ends[1]]] == [False] * 4 + [True]


def test_the_page_stands_what_an_environment_may_hold():
    lone = {"name": "a<b", "version": "1", "licence": "not stated", "files": 0, "bytes": 0, "requires": []}
    links = {"edges": [], "used_by": [], "licences": [["not stated", 1]], "roots": ["a<b"]}
    page = report.document([lone], links, {"kinds": [], "largest": [], "copies": {"files": 0, "bytes": 0}})
    assert "a&lt;b" in page
    assert "a<b" not in page
    assert "<svg" in page, "without a drawn chart there is a plain one"


def test_without_the_tools_for_charts_the_report_is_made_all_the_same():
    assert [tool for _, tool, _ in script.calls_of(script.REPORT, {"python_execute"})] == ["python_execute"]
