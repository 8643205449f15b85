"""The daytona sandbox, through the real SDK, over the wire of a server that the tests bring (`daytona_server.py`)."""

import sys
from pathlib import Path

import pytest
from daytona_server import KEY, daytona_server

from clew.state.errors import ToolFailure, UsageError
from clew.state.sandbox import SandboxOptions
from clew.state.tools import ToolSettings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources
from clew.tools.sandbox.choice import describe_backend, open_sandbox
from clew.tools.workspace import Workspace

pytest.importorskip("daytona")
pytestmark = pytest.mark.needs("bwrap")

CONFIG = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def server(tmp_path):
    with daytona_server(tmp_path / "machines") as server:
        yield server


@pytest.fixture
def options(server, monkeypatch):
    monkeypatch.setenv("DAYTONA_API_KEY", KEY)
    return SandboxOptions.model_validate({"backend": "daytona", "daytona": {"api_url": server.url}})


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "workspace").mkdir()
    return Workspace(tmp_path / "workspace")


@pytest.fixture
async def sandbox(options, workspace):
    opened = await open_sandbox(workspace, options)
    yield opened
    await opened.close()


@pytest.fixture
async def tools(options, workspace):
    """Makes tools on the machine, called on one thread."""

    def build(name):
        [tool] = build_tools([name], workspace=workspace.root, settings=ToolSettings(sandbox=options))

        async def call(**arguments):
            return await tool.ainvoke(arguments, CONFIG)

        return call

    yield build
    await resources().close_all()


async def test_the_machine_is_as_the_seed_says_and_ends_by_itself(server, sandbox):
    [machine] = server.machines.values()
    assert (machine["cpu"], machine["memory"], machine["disk"]) == (2, 4, 5)
    assert machine["autoStopInterval"] == 15
    assert machine["networkBlockAll"] is True
    assert "FROM python:3.12-slim" in machine["buildInfo"]["dockerfileContent"]
    assert "WORKDIR /workspace" in machine["buildInfo"]["dockerfileContent"]


async def test_a_command_gets_its_input_and_environment_and_gives_output_and_exit_code(sandbox):
    answer = await sandbox.execute("cat; echo $GREETING >&2; pwd; exit 3", env={"GREETING": "hello"}, stdin="in\n")
    assert answer.output == "in\nhello\n/workspace\n"
    assert (answer.exit_code, answer.truncated) == (3, False)


async def test_bytes_pass_as_they_are_and_may_be_many(sandbox):
    answer = await sandbox.execute("cat | tee copy", stdin="x\r\n\t\x03\x04é" * 20_000)
    assert (answer.truncated, answer.exit_code) == (True, 0)
    [copy] = await sandbox.download_files(["copy"])
    assert copy.content == "x\r\n\t\x03\x04é".encode() * 20_000


async def test_when_time_runs_out_all_processes_of_the_command_are_killed(sandbox, running):
    answer = await sandbox.execute("echo begun; (setsid sleep 2003.5 &); sleep 2003.5", timeout=3.0)
    assert (answer.output, answer.exit_code) == ("begun\n", None)
    assert running("sleep 2003.5") == []


async def test_a_daemon_ends_with_its_command(sandbox, running):
    answer = await sandbox.execute("(setsid sleep 2003.75 &); sleep 0.1", timeout=30)
    assert answer.exit_code == 0
    assert running("sleep 2003.75") == []


async def test_files_go_up_and_down_and_no_path_leads_out(sandbox):
    up, outside = await sandbox.upload_files([("a/b", b"\0\xff"), ("../c", b"")])
    assert (up.error, "outside the workspace" in outside.error) == (None, True)
    assert (await sandbox.execute("wc -c <a/b; ln -s /etc/passwd link")).output.strip() == "2"
    down, link, missing = await sandbox.download_files(["a/b", "link", "missing"])
    assert (down.content, down.error) == (b"\0\xff", None)
    assert "outside the workspace" in link.error
    assert "There is no missing" in missing.error
    assert await sandbox.locate("/workspace/a") == Path("/workspace/a")


async def test_the_next_run_finds_the_machine_with_its_files_and_no_process(server, options, workspace, running):
    first = await open_sandbox(workspace, options)
    await first.execute("echo kept >file")
    process = await first.start(["sleep", "2004.5"])
    await first.close()
    [machine] = server.machines.values()
    assert machine["state"] == "stopped"
    again = await open_sandbox(workspace, options)
    assert (again.id, machine["state"]) == (first.id, "started")
    assert (await again.execute("cat file")).output == "kept\n"
    assert running("sleep 2004.5") == []
    await process.close()
    await again.close()


async def test_the_shell_keeps_its_state_and_lives_on_after_an_interrupt(tools):
    bash = tools("bash")
    await bash(command="mkdir -p a; cd a; X=5; echo needle >b")
    assert await bash(command="echo $X; pwd") == "5\n/workspace/a\n[exit code 0]"
    assert "interrupted" in await bash(command="sleep 1000", timeout=1)
    assert await bash(command="echo $X") == "5\n[exit code 0]"
    assert "a/b:1: needle" in await tools("file_search")(pattern="need")


async def test_python_runs_on_the_machine(tools):
    python = tools("python_execute")
    assert (await python(code="import os; open('made', 'w').write('x')\nos.getcwd()")).startswith("'/workspace'\n")
    assert await tools("bash")(command="cat made") == "x\n[exit code 0]"
    failed = await python(code="1 / 0")
    assert failed.endswith("ZeroDivisionError: division by zero\n[exit code 1]")
    with pytest.raises(ToolFailure, match="leave `stateful` out"):
        await python(code="1", stateful=True)


async def test_the_editor_works_on_the_files_of_the_machine(tools, workspace):
    edit, bash = tools("str_replace_editor"), tools("bash")
    await bash(command="printf 'one\\r\\n\\ttwo' >text; mkdir -p deep/er; touch deep/er/file .hidden")
    assert "two" in await edit(command="view", path="text")
    await edit(command="str_replace", path="/workspace/text", old_str="one", new_str="three")
    assert (
        await bash(command="od -c text | head -1")
        == "0000000   t   h   r   e   e  \\r  \\n  \\t   t   w   o\n[exit code 0]"
    )
    await edit(command="undo_edit", path="text")
    assert (await bash(command="cat text")).startswith("one")
    await edit(command="create", path="new/file", file_text="made\n")
    assert await bash(command="cat new/file") == "made\n[exit code 0]"
    assert (await edit(command="view", path=".")).splitlines() == ["deep/", "deep/er/", "new/", "new/file", "text"]
    await edit(command="undo_edit", path="new/file")
    assert await bash(command="ls new") == "[exit code 0]"
    await bash(command="rm text")
    with pytest.raises(ToolFailure, match="There is no file text"):
        await edit(command="view", path="text")
    with pytest.raises(ToolFailure, match="outside the workspace /workspace;"):
        await edit(command="view", path="/etc/passwd")


async def test_the_backend_is_described(options):
    described = await describe_backend(options)
    assert (described.name, described.contained) == ("daytona", True)
    assert described.description.startswith("daytona: commands run on a machine of Daytona")


async def test_a_missing_key_a_wrong_key_and_a_refusal_are_one_line_errors(server, options, workspace, monkeypatch):
    server.fails = "sandbox"
    with pytest.raises(UsageError, match="no runner is free"):
        await open_sandbox(workspace, options)
    monkeypatch.setenv("DAYTONA_API_KEY", "wrong")
    server.fails = ""
    with pytest.raises(UsageError, match="Invalid credentials"):
        await open_sandbox(workspace, options)
    monkeypatch.delenv("DAYTONA_API_KEY")
    for use in (describe_backend(options), open_sandbox(workspace, options)):
        with pytest.raises(UsageError, match="needs a key; set DAYTONA_API_KEY"):
            await use


async def test_a_machine_out_of_reach_is_a_failure_of_the_tool(server, sandbox):
    server.fails = "toolbox"
    with pytest.raises(ToolFailure, match="out of reach"):
        await sandbox.execute("true")
    server.fails = ""


async def test_where_the_sdk_is_missing_the_error_says_how_to_get_it(options, workspace, monkeypatch):
    monkeypatch.setitem(sys.modules, "daytona", None)
    with pytest.raises(UsageError, match=r"pip install 'clew\[daytona\]'"):
        await open_sandbox(workspace, options)
