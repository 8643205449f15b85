"""The docker sandbox, through the real SDK, over the wire of a daemon that the tests bring (see `conftest.py`)."""

import os
import sys
from pathlib import Path

import pytest

from clew.state.errors import ToolFailure, UsageError
from clew.state.sandbox import MEGABYTE, SandboxOptions
from clew.state.tools import ToolSettings
from clew.tools.catalog import build_tools
from clew.tools.resources import resources
from clew.tools.sandbox.choice import describe_backend, open_sandbox
from clew.tools.workspace import Workspace

pytest.importorskip("docker")
pytestmark = pytest.mark.needs("bwrap")

OPTIONS = SandboxOptions(backend="docker")

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

FAKE_FIGURE = """
import base64, sys, types

class Figure:
    def savefig(self, file, **options):
        file.write(base64.b64decode("{png}"))

sys.modules["matplotlib.pyplot"] = types.SimpleNamespace(get_fignums=lambda: [1], figure=lambda number: Figure())
"""
"""Draws without matplotlib, which the system's interpreter need not have."""


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "workspace").mkdir()
    return Workspace(tmp_path / "workspace")


@pytest.fixture
async def sandbox(docker_daemon, workspace):
    opened = await open_sandbox(workspace, OPTIONS)
    yield opened
    await opened.close()


async def test_the_container_is_as_small_and_closed_as_the_settings_say(docker_daemon, sandbox, workspace):
    [container] = docker_daemon.containers.values()
    host = container["HostConfig"]
    assert container["Image"] == "python:3.12-slim"
    assert (host["Memory"], host["MemorySwap"], host["NanoCpus"]) == (512 * MEGABYTE, 512 * MEGABYTE, 10**9)
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert host["SecurityOpt"] == ["no-new-privileges:true"]
    assert host["PidsLimit"] == OPTIONS.limits.processes
    assert not host.get("Privileged")
    assert container["User"] == f"{os.getuid()}:{os.getgid()}"
    bound = {mount["Target"]: (mount["Source"], bool(mount.get("ReadOnly"))) for mount in host["Mounts"]}
    assert bound["/workspace"] == (str(workspace.root), False)
    assert {target for target, (_, read_only) in bound.items() if not read_only} == {"/workspace"}


async def test_a_missing_image_is_pulled_and_one_that_cannot_be_is_an_error(docker_daemon, sandbox, workspace):
    assert docker_daemon.images == {"python:3.12-slim"}
    options = SandboxOptions.model_validate({"backend": "docker", "docker": {"image": "no-such:image"}})
    with pytest.raises(UsageError, match="cannot start the image 'no-such:image'"):
        await open_sandbox(workspace, options)


async def test_a_command_gets_its_input_and_environment_and_gives_output_and_exit_code(sandbox):
    answer = await sandbox.execute("cat; echo $GREETING >&2; pwd; exit 3", env={"GREETING": "hello"}, stdin="in\n")
    assert answer.output == "in\nhello\n/workspace\n"
    assert (answer.exit_code, answer.truncated) == (3, False)


async def test_input_and_output_may_be_large_at_once(sandbox):
    answer = await sandbox.execute("cat | tee copy", stdin="x" * 1_000_000)
    assert (answer.truncated, answer.exit_code) == (True, 0)
    [copy] = await sandbox.download_files(["copy"])
    assert copy.content == b"x" * 1_000_000


async def test_when_time_runs_out_all_processes_of_the_command_are_killed(sandbox, running):
    answer = await sandbox.execute("echo begun; (setsid sleep 2001.5 &); sleep 2001.5", timeout=2.0)
    assert (answer.output, answer.exit_code) == ("begun\n", None)
    assert running("sleep 2001.5") == []


async def test_a_daemon_ends_with_its_command(sandbox, running):
    answer = await sandbox.execute("(setsid sleep 2001.75 >/dev/null 2>&1 &); sleep 0.1", timeout=20)
    assert answer.exit_code == 0
    assert running("sleep 2001.75") == []


async def test_the_environment_has_no_secret_of_ours(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in (await sandbox.execute("env", timeout=20)).output


async def test_files_go_up_and_down_and_no_path_leads_out(sandbox):
    up, outside = await sandbox.upload_files([("a/b", b"\0\xff"), ("../c", b"")])
    assert (up.error, "outside the workspace" in outside.error) == (None, True)
    assert (await sandbox.execute("wc -c <a/b")).output.strip() == "2"
    assert await sandbox.locate("a/b") == Path("/workspace/a/b")


async def test_a_container_that_a_killed_process_left_is_taken_over_and_closing_removes_it(
    docker_daemon, sandbox, workspace
):
    again = await open_sandbox(workspace, OPTIONS)
    assert again.id == sandbox.id == f"docker:{next(iter(docker_daemon.containers))}"
    assert len(docker_daemon.containers) == 1
    assert ("POST", f"/containers/{again.id.removeprefix('docker:')}/restart") in [
        request[:2] for request in docker_daemon.requests
    ]
    again._client.close()


async def test_a_program_that_needs_our_descriptors_is_refused_with_what_to_do_instead(sandbox):
    with pytest.raises(ToolFailure, match="use bash"):
        await sandbox.start([sys.executable, "7"], descriptors=[7])


async def test_the_shell_and_the_search_work_in_it(docker_daemon, workspace):
    settings = ToolSettings(sandbox=OPTIONS)
    bash, search = build_tools(["bash", "file_search"], workspace=workspace.root, settings=settings)
    config = {"configurable": {"thread_id": "t"}}
    await bash.ainvoke({"command": "mkdir -p a; cd a; X=5; echo needle >b"}, config)
    assert await bash.ainvoke({"command": "echo $X; pwd"}, config) == "5\n/workspace/a\n[exit code 0]"
    assert "interrupted" in await bash.ainvoke({"command": "sleep 1000", "timeout": 0.5}, config)
    assert await bash.ainvoke({"command": "echo $X"}, config) == "5\n[exit code 0]"
    assert "a/b:1: needle" in await search.ainvoke({"pattern": "need"}, config)
    await resources().close_all()
    assert docker_daemon.containers == {}


async def test_python_runs_in_it(docker_daemon, workspace):
    settings = ToolSettings(sandbox=OPTIONS)
    [python] = build_tools(["python_execute"], workspace=workspace.root, settings=settings)
    config = {"configurable": {"thread_id": "t"}}
    answer = await python.ainvoke(
        {"code": "import os\nopen('made', 'w').write('x')\nprint(os.getcwd())\n6 * 7"}, config
    )
    assert answer == "/workspace\n42\n[files written: made]\n[exit code 0]"
    failed = await python.ainvoke({"code": "1 / 0"}, config)
    assert 'File "<python_execute>", line 1' in failed
    assert failed.endswith("ZeroDivisionError: division by zero\n[exit code 1]")
    assert "runner.py" not in failed
    assert "[stopped: it ran for more than" in await python.ainvoke(
        {"code": "import time; time.sleep(100)", "timeout": 2}, config
    )
    with pytest.raises(ToolFailure, match="leave `stateful` out"):
        await python.ainvoke({"code": "1", "stateful": True}, config)
    await resources().close_all()


async def test_figures_of_the_container_are_shown(docker_daemon, workspace):
    call = {"type": "tool_call", "name": "python_execute", "id": "call"}
    [python] = build_tools(["python_execute"], workspace=workspace.root, settings=ToolSettings(sandbox=OPTIONS))
    code = FAKE_FIGURE.format(png=PIXEL)
    message = await python.ainvoke({**call, "args": {"code": code}}, {"configurable": {"thread_id": "t"}})
    assert message.artifact["figures"] == 1
    assert not list((workspace.root / ".clew").glob("figures-*"))
    await resources().close_all()


async def test_the_editor_takes_the_paths_of_the_container_and_shows_no_other(docker_daemon, workspace):
    [editor] = build_tools(["str_replace_editor"], workspace=workspace.root, settings=ToolSettings(sandbox=OPTIONS))
    config = {"configurable": {"thread_id": "t"}}
    await editor.ainvoke({"command": "create", "path": "/workspace/a/b", "file_text": "x\n"}, config)
    assert (workspace.root / "a" / "b").read_text() == "x\n"
    with pytest.raises(ToolFailure, match="outside the workspace /workspace;"):
        await editor.ainvoke({"command": "view", "path": "/etc/passwd"}, config)


async def test_a_command_ends_with_its_container(docker_daemon, workspace):
    sandbox = await open_sandbox(workspace, OPTIONS)
    process = await sandbox.start(["sleep", "1000"])
    await sandbox.close()
    assert await process.output.read() == b""
    assert await process.wait() == 137
    await process.close()


async def test_a_container_that_somebody_removed_is_closed_all_the_same(docker_daemon, workspace):
    sandbox = await open_sandbox(workspace, OPTIONS)
    docker_daemon.containers.clear()
    await sandbox.close()


async def test_the_backend_is_described(docker_daemon):
    described = await describe_backend(OPTIONS)
    assert (described.name, described.contained) == ("docker", True)
    assert described.description == "docker: commands run in a container of python:3.12-slim, without network"


async def test_where_no_daemon_answers_the_error_says_so(workspace, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    for use in (describe_backend(OPTIONS), open_sandbox(workspace, OPTIONS)):
        with pytest.raises(UsageError, match="Docker does not answer"):
            await use


async def test_where_the_sdk_is_missing_the_error_says_how_to_get_it(workspace, monkeypatch):
    monkeypatch.setitem(sys.modules, "docker", None)
    with pytest.raises(UsageError, match=r"pip install 'clew\[docker\]'"):
        await open_sandbox(workspace, OPTIONS)
