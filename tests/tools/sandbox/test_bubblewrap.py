"""What must not be possible in bubblewrap, tried for real."""

import asyncio
import os
import shlex
import socket
from pathlib import Path

import pytest

from clew.tools.sandbox.bubblewrap import BubblewrapSandbox
from clew.tools.sandbox.limits import MEGABYTE, Limits, SandboxOptions
from clew.tools.workspace import Workspace

pytestmark = pytest.mark.needs("bwrap")

FORKS = """
import os, time
for count in range(500):
    try:
        if os.fork() == 0:
            time.sleep(1000)
    except OSError:
        break
print(count)
"""

SMALL = Limits(memory=256 * MEGABYTE, processes=64, file_size=8 * MEGABYTE, cpu_seconds=1)


@pytest.fixture
async def sandbox(tmp_path):
    (tmp_path / "workspace").mkdir()
    opened = await BubblewrapSandbox.open(Workspace(tmp_path / "workspace"), SandboxOptions(limits=SMALL))
    yield opened
    await opened.close()


@pytest.mark.parametrize("place", ["/usr/x", "/etc/x", "/bin/x", "/root/x", "/work", "/proc/sys/kernel/hostname"])
async def test_nothing_outside_of_the_workspace_is_written(sandbox, place):
    before = await asyncio.to_thread(look, place)
    await sandbox.execute(f"echo escaped >{place}", timeout=20)
    assert await asyncio.to_thread(look, place) == before


def look(place):
    path = Path(place)
    return (path.exists(), path.is_file() and path.read_text())


async def test_a_neighbour_of_the_workspace_is_not_there(sandbox, tmp_path):
    (tmp_path / "secret").write_text("secret")
    answer = await sandbox.execute(f"cat {tmp_path}/secret ../secret; ls ..", timeout=20)
    assert "secret\n" not in answer.output.replace("/secret", "")
    await sandbox.execute("echo escaped >../escaped", timeout=20)
    assert not (tmp_path / "escaped").exists()


async def test_home_and_its_keys_are_not_there(sandbox):
    home = Path.home()
    answer = await sandbox.execute(f"ls -A {home}/.ssh {home}/.aws {home}/.netrc {home}/.bash_history", timeout=20)
    assert answer.exit_code != 0
    assert answer.output.count("No such file") == 4


@pytest.mark.parametrize("file", ["/etc/shadow", "/etc/sudoers", "/etc/ssh", "/proc/1/root/etc/shadow", "/sys/kernel"])
async def test_files_that_only_root_may_read_are_not_there(sandbox, file):
    assert (await sandbox.execute(f"cat {file} || ls {file}", timeout=20)).exit_code != 0


async def test_other_processes_cannot_be_seen_nor_killed(sandbox):
    answer = await sandbox.execute(f"ls /proc | grep -c '^[0-9]'; kill -9 {os.getpid()}; kill -9 -1; true", timeout=20)
    assert int(answer.output.split()[0]) < 10


async def test_killing_its_parent_ends_the_sandbox_alone(sandbox):
    await sandbox.execute("kill -9 1; kill -9 $PPID", timeout=20)
    assert (await sandbox.execute("echo on", timeout=20)).output == "on\n"


async def test_there_is_no_network(sandbox):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = await sandbox.execute(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected", timeout=20)
    assert "connected" not in answer.output
    assert (await sandbox.execute("tail -n +3 /proc/net/dev | grep -v lo:", timeout=20)).output == ""


async def test_network_can_be_allowed(sandbox):
    allowed = await BubblewrapSandbox.open(sandbox.workspace, SandboxOptions(network=True))
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        answer = await allowed.execute(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected", timeout=20)
    await allowed.close()
    assert answer.output == "connected\n"


async def test_a_fork_bomb_dies_of_the_limit(sandbox):
    answer = await sandbox.execute(f"python3 -c {shlex.quote(FORKS)}", timeout=30)
    assert 10 < int(answer.output) < SMALL.processes


async def test_a_memory_bomb_dies_of_the_limit(sandbox):
    answer = await sandbox.execute("""python3 -c 'x = bytearray(1_000_000_000); print("survived")'""", timeout=30)
    assert answer.exit_code != 0
    assert "survived" not in answer.output


async def test_a_file_that_fills_the_disk_is_cut_off(sandbox):
    answer = await sandbox.execute("head -c 100000000 /dev/zero >big", timeout=20)
    assert answer.exit_code != 0
    assert (sandbox.workspace.root / "big").stat().st_size == SMALL.file_size


async def test_endless_computing_dies_of_the_limit(sandbox):
    assert (await sandbox.execute("while :; do :; done", timeout=60)).exit_code == 137


async def test_time_runs_out_for_daemons_too(sandbox, running):
    answer = await sandbox.execute("(setsid sleep 2000.5 >/dev/null &); sleep 2000.5", timeout=0.5)
    assert answer.exit_code is None
    assert running("sleep 2000.5") == []


async def test_a_daemon_ends_with_its_command(sandbox, running):
    answer = await sandbox.execute("(setsid sleep 2000.75 >/dev/null 2>&1 &); sleep 0.1", timeout=20)
    assert answer.exit_code == 0
    assert running("sleep 2000.75") == []


async def test_a_link_out_of_the_workspace_leads_nowhere_from_inside_and_from_the_host(sandbox, tmp_path):
    (tmp_path / "secret").write_text("secret")
    answer = await sandbox.execute(f"ln -s {tmp_path}/secret soft && cat soft; ln {tmp_path}/secret hard", timeout=20)
    assert answer.output.count("No such file") == 2
    [down] = await sandbox.download_files(["soft"])
    assert down.content is None
    assert "outside the workspace" in down.error
    [up] = await sandbox.upload_files([("soft", b"escaped")])
    assert "outside the workspace" in up.error
    assert (tmp_path / "secret").read_text() == "secret"


async def test_a_hard_link_to_what_is_bound_read_only_cannot_be_made(sandbox):
    assert (await sandbox.execute("ln /usr/bin/env hard", timeout=20)).exit_code != 0


async def test_there_are_no_devices_and_none_can_be_made(sandbox):
    answer = await sandbox.execute("ls /dev/sd* /dev/vd* /dev/mem /dev/kmsg; mknod disk b 8 0", timeout=20)
    assert "/dev/" not in answer.output.replace("cannot access '/dev/", "")
    assert not (sandbox.workspace.root / "disk").exists()


@pytest.mark.parametrize("escape", ["mount -t tmpfs none /mnt", "chroot / true", "mount -o remount,rw /usr"])
async def test_it_has_no_privileges(sandbox, escape):
    assert (await sandbox.execute(escape, timeout=20)).exit_code != 0


async def test_the_environment_has_no_secret_of_ours(sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    answer = await sandbox.execute("env; cat /proc/*/environ", timeout=20)
    assert "sk-secret" not in answer.output


async def test_the_temporary_folder_is_shared_by_its_commands_and_gone_afterwards(tmp_path):
    sandbox = await BubblewrapSandbox.open(Workspace(tmp_path), SandboxOptions())
    await sandbox.execute("echo shared >/tmp/file", timeout=20)
    assert (await sandbox.execute("cat /tmp/file", timeout=20)).output == "shared\n"
    await sandbox.close()
    assert not await asyncio.to_thread(Path("/tmp/file").exists)
