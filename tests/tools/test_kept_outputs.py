"""Long outputs: payloads of the thread, and copies in the workspace."""

import stat

import pytest

from clew.checkpoints.open import open_saver
from clew.tools.kept_outputs import NAMES, keep_output, missing_copies, remove_copies, restore_copies
from clew.tools.run_services import RunServices
from clew.tools.workspace import Workspace

KEY = "ghp_" + "a1B2" * 9


@pytest.fixture
async def saver(tmp_path):
    async with open_saver(tmp_path / "clew.db", secrets=["the password of ours"]) as saver:
        yield saver


@pytest.fixture
def services(saver):
    async def put(payload):
        return await saver.blobs.put("t", payload)

    return RunServices(put=put, get=saver.blobs.get)


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "work").mkdir()
    return Workspace(tmp_path / "work")


async def test_payload_and_copy_are_equal_without_secrets_and_for_this_user_alone(saver, services, workspace):
    kept = await keep_output(f"{KEY}\nthe password of ours\n\ud800", "bash", workspace, services)
    copy = workspace.root / kept.file
    assert copy.read_text() == "[redacted]\n[redacted]\n\\ud800"
    assert await saver.blobs.get(kept.blob) == copy.read_bytes()
    assert NAMES.fullmatch(kept.file)
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700


async def test_equal_outputs_are_kept_once(saver, services, workspace):
    first, second = [await keep_output("the same", "bash", workspace, services) for _ in range(2)]
    assert first == second
    assert len(await saver.blobs.references("t")) == 1
    assert len(list((workspace.root / first.file).parent.iterdir())) == 1


async def test_without_a_place_for_payloads_there_is_the_copy_alone(workspace):
    kept = await keep_output("long", "a tool/of ours", workspace, RunServices())
    assert kept.blob is None
    assert (workspace.root / kept.file).read_text() == "long"
    assert NAMES.fullmatch(kept.file)


async def test_a_link_out_of_the_workspace_gets_nothing_and_the_payload_is_kept_all_the_same(
    saver, services, workspace, tmp_path
):
    (tmp_path / "elsewhere").mkdir()
    (workspace.root / ".clew").symlink_to(tmp_path / "elsewhere")
    kept = await keep_output("long", "bash", workspace, services)
    assert kept.file is None
    assert await saver.blobs.get(kept.blob) == b"long"
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert remove_copies(workspace.root, [kept.blob]) == []


async def test_a_copy_that_is_missing_is_written_again_and_no_other(saver, services, workspace):
    kept = await keep_output("long", "bash", workspace, services)
    other = await keep_output("other", "bash", workspace, services)
    unknown = ".clew/outputs/bash-0123456789abcdef.log"
    (workspace.root / kept.file).unlink()
    (workspace.root / other.file).write_text("changed by the agent")
    missing = missing_copies([kept.file, other.file, unknown], workspace)
    assert missing == [kept.file, unknown]
    await restore_copies(missing, workspace, await saver.blobs.references("t"), services)
    assert (workspace.root / kept.file).read_text() == "long"
    assert stat.S_IMODE((workspace.root / kept.file).stat().st_mode) == 0o600
    assert (workspace.root / other.file).read_text() == "changed by the agent"
    assert not (workspace.root / unknown).exists()


async def test_only_the_copies_of_the_named_payloads_are_removed(services, workspace):
    kept = await keep_output("long", "bash", workspace, services)
    other = await keep_output("other", "bash", workspace, services)
    assert remove_copies(workspace.root, [kept.blob]) == [workspace.root / kept.file]
    assert not (workspace.root / kept.file).exists()
    assert (workspace.root / other.file).exists()
    assert remove_copies(workspace.root / "missing", [kept.blob]) == []
