from pathlib import Path

import pytest

from clew.tools.python.worker import Worker
from clew.tools.sandbox.limits import SandboxOptions
from clew.tools.sandbox.local import LocalSandbox
from clew.tools.workspace import Workspace


def open_descriptors() -> set[str]:
    return {path.name for path in Path("/proc/self/fd").iterdir()}


async def test_a_worker_that_cannot_start_leaves_no_descriptor_open(tmp_path):
    sandbox = await LocalSandbox.open(Workspace(tmp_path / "gone"), SandboxOptions(backend="local"))
    for _ in range(2):  # the first start of a process opens what the loop keeps
        before = open_descriptors()
        with pytest.raises(OSError, match="gone"):
            await Worker.open(sandbox)
    assert open_descriptors() == before
    await sandbox.close()
