"""A sandbox of another package: a backend of deepagents' shape, whose machine is a folder that bubblewrap shows."""

import asyncio
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from clew.state.errors import ToolFailure, UsageError
from clew.state.sandbox import SandboxOptions
from clew.state.tools import ToolSettings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources
from clew.tools.sandbox.bubblewrap import system_mounts
from clew.tools.sandbox.choice import describe_backend, open_sandbox
from clew.tools.workspace import Workspace

pytestmark = pytest.mark.needs("bwrap")

CONFIG = {"configurable": {"thread_id": "t"}}
OPTIONS = SandboxOptions(backend="provider", provider="cave")


@dataclass
class Answer:
    output: str
    exit_code: int | None = None
    truncated: bool = False


@dataclass
class File:
    path: str
    content: bytes | None = None
    error: str | None = None


class Cave:
    """The methods of `SandboxBackendProtocol`, which block; each command is in a bubblewrap of its own."""

    closed = 0

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("workspace", "tmp"):
            (folder / name).mkdir(parents=True, exist_ok=True)

    @property
    def id(self) -> str:
        return self.folder.name

    def execute(self, command: str, *, timeout: int | None = None) -> Answer:
        bound = [part for name in ("workspace", "tmp") for part in ("--bind", str(self.folder / name), f"/{name}")]
        system = [*system_mounts(), "--ro-bind", "/proc", "/proc", "--dev", "/dev", *bound]
        variables = ["--clearenv", "--setenv", "PATH", os.environ["PATH"], "--setenv", "HOME", "/tmp"]
        ended = subprocess.run(
            ["bwrap", *system, *variables, "--chdir", "/", "sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
        return Answer(ended.stdout.decode(errors="replace"), ended.returncode)

    def upload_files(self, files: list[tuple[str, bytes]]) -> list[File]:
        for path, content in files:
            Path(f"{self.folder}{path}").write_bytes(content)
        return [File(path) for path, _ in files]

    def download_files(self, paths: list[str]) -> list[File]:
        files = [Path(f"{self.folder}{path}") for path in paths]
        return [
            File(path, file.read_bytes()) if file.is_file() else File(path, error="file_not_found")
            for path, file in zip(paths, files, strict=True)
        ]

    def close(self) -> None:
        Cave.closed += 1


@pytest.fixture(autouse=True)
def cave(tmp_path, monkeypatch):
    """Install a package that offers the sandbox `cave`."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(Cave, "closed", 0)
    offered = type(sys)("cave_package")
    offered.make = lambda name: Cave(tmp_path / "machines" / name)
    monkeypatch.setitem(sys.modules, "cave_package", offered)
    information = tmp_path / "cave-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: cave\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text("[clew.sandboxes]\ncave = cave_package:make\n")
    return offered


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "workspace").mkdir()
    return Workspace(tmp_path / "workspace")


@pytest.fixture
async def tools(workspace):
    def build(name):
        [tool] = build_tools([name], workspace=workspace.root, settings=ToolSettings(sandbox=OPTIONS))

        async def call(**arguments):
            return await tool.ainvoke(arguments, CONFIG)

        return call

    yield build
    await resources().close_all()


async def test_commands_have_input_output_and_an_end_and_the_next_run_finds_the_machine(workspace, running):
    sandbox = await open_sandbox(workspace, OPTIONS)
    answer = await sandbox.execute("cat; echo $GREETING >&2; pwd; exit 3", env={"GREETING": "hello"}, stdin="in\n")
    assert (answer.output, answer.exit_code) == ("in\nhello\n/workspace\n", 3)
    many = "x\r\n\t\x03é" * 20_000
    assert (await sandbox.execute("cat >copy", stdin=many)).exit_code == 0
    [copy, missing] = await sandbox.download_files(["copy", "missing"])
    assert (copy.content, "There is no missing" in missing.error) == (many.encode(), True)
    late = await sandbox.execute("echo begun; (setsid sleep 2005.5 &); sleep 2005.5", timeout=3.0)
    assert (late.output, late.exit_code, running("sleep 2005.5")) == ("begun\n", None, [])
    up, outside = await sandbox.upload_files([("a/b", b"\0\xff"), ("../c", b"")])
    assert (up.error, "outside the workspace" in outside.error) == (None, True)
    await sandbox.close()
    assert Cave.closed == 1
    again = await open_sandbox(workspace, OPTIONS)
    assert (again.id, (await again.execute("wc -c <a/b")).output.strip()) == (sandbox.id, "2")
    await again.close()


async def test_shell_python_and_editor_work_on_its_files(tools):
    bash, python, edit = tools("bash"), tools("python_execute"), tools("str_replace_editor")
    await bash(command="mkdir -p a; cd a; X=5; echo one >b")
    assert await bash(command="echo $X; pwd") == "5\n/workspace/a\n[exit code 0]"
    await edit(command="str_replace", path="a/b", old_str="one", new_str="two")
    assert await bash(command="cat b") == "two\n[exit code 0]"
    assert (await python(code="open('a/b').read()")).startswith("'two\\n'")
    with pytest.raises(ToolFailure, match="outside the workspace"):
        await edit(command="view", path="/etc/passwd")


async def test_what_is_wrong_with_a_provider_is_one_sentence(cave, workspace):
    assert (await describe_backend(OPTIONS)).name == "cave"
    for options, says in [
        (SandboxOptions(backend="provider"), "needs a name; set provider"),
        (SandboxOptions(backend="provider", provider="moon"), "No package offers the sandbox 'moon'"),
    ]:
        with pytest.raises(UsageError, match=says):
            await describe_backend(options)

    cave.make = lambda name: object()
    with pytest.raises(UsageError, match="has no id and no execute and no upload_files and no download_files"):
        await open_sandbox(workspace, OPTIONS)

    async def refuse(name):
        await asyncio.sleep(0)
        raise RuntimeError("the quota is used up\nat all")

    cave.make = refuse
    with pytest.raises(UsageError, match=r"cave does not work \(RuntimeError: the quota is used up\)"):
        await open_sandbox(workspace, OPTIONS)
