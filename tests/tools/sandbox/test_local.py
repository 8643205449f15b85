import pytest

from clew.state.errors import UsageError
from clew.tools.sandbox import choice
from clew.tools.sandbox.choice import describe_backend, open_sandbox
from clew.tools.sandbox.limits import SandboxOptions
from clew.tools.workspace import Workspace


@pytest.fixture
async def sandbox(tmp_path, backend):
    opened = await open_sandbox(Workspace(tmp_path), SandboxOptions(backend=backend))
    yield opened
    await opened.close()


async def test_a_command_gets_its_input_and_environment_and_gives_output_and_exit_code(sandbox):
    answer = await sandbox.execute("cat; echo $GREETING >&2; pwd; exit 3", env={"GREETING": "hello"}, stdin="in\n")
    assert answer.output == f"in\nhello\n{sandbox.workspace.root}\n"
    assert (answer.exit_code, answer.truncated) == (3, False)


async def test_input_and_output_may_be_large_at_once(sandbox):
    answer = await sandbox.execute("cat", stdin="x" * 1_000_000)
    assert answer.truncated
    assert answer.output.startswith("xxx")
    assert answer.output.endswith("xxx")


async def test_a_command_that_does_not_read_its_input_still_ends(sandbox):
    assert (await sandbox.execute("true", stdin="x" * 1_000_000)).exit_code == 0


async def test_when_time_runs_out_there_is_the_output_so_far_and_no_exit_code(sandbox):
    answer = await sandbox.execute("echo begun; sleep 1000", timeout=2.0)
    assert (answer.output, answer.exit_code) == ("begun\n", None)


async def test_files_go_up_and_down_byte_for_byte(sandbox):
    content = bytes(range(256))
    up, outside = await sandbox.upload_files([("a/b", content), ("../c", b"")])
    assert up.error is None
    assert "outside the workspace" in outside.error
    assert (await sandbox.execute("wc -c <a/b")).output.strip() == "256"
    down, missing = await sandbox.download_files(["a/b", "missing"])
    assert (down.path, down.content, down.error) == ("a/b", content, None)
    assert missing.content is None
    assert missing.error


async def test_its_id_is_the_same_after_a_resume(sandbox, backend):
    assert sandbox.id == f"{backend}:{sandbox.workspace.root}"
    assert sandbox.contained == (backend == "bubblewrap")


async def test_the_backend_that_is_described_is_the_one_that_is_opened(sandbox, backend):
    described = await describe_backend(sandbox.options)
    assert (described.name, described.contained, described.remedy) == (backend, sandbox.contained, "")
    assert described.description.startswith(f"{backend}: commands ")


@pytest.mark.needs("bwrap")
async def test_the_description_says_whether_there_is_network():
    assert (await describe_backend(SandboxOptions())).description.endswith("without network")
    assert (await describe_backend(SandboxOptions(network=True))).description.endswith("with the network")


async def test_where_nothing_contains_the_description_says_so_and_how_to_mend_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    described = await describe_backend(SandboxOptions())
    assert (described.name, described.contained) == ("local", False)
    assert described.description == "local: commands run with all of your rights"
    assert "install the package bubblewrap" in described.remedy
    with pytest.raises(UsageError, match="install the package bubblewrap"):
        await describe_backend(SandboxOptions(backend="bubblewrap"))


async def test_where_bubblewrap_does_not_work_auto_is_local_and_asking_for_it_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = await open_sandbox(Workspace(tmp_path), SandboxOptions())
    assert not sandbox.contained
    await sandbox.close()
    with pytest.raises(UsageError, match="install the package bubblewrap"):
        await open_sandbox(Workspace(tmp_path), SandboxOptions(backend="bubblewrap"))


@pytest.mark.needs("bwrap")
async def test_where_bubblewrap_is_forbidden_the_reason_is_what_it_says(tmp_path, monkeypatch):
    forbidden = tmp_path / "bwrap"
    forbidden.write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    forbidden.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "setting up uid map: Permission denied" in await choice.bubblewrap_problem()
