import asyncio
import signal
import subprocess
import sys

import pytest

from clew.tools.sandbox.environment import clean_environment
from clew.tools.sandbox.process import start_guarded

DAEMON = "(setsid sh -c 'echo $$; exec sleep 1000' &)"


async def start(script, folder):
    return await start_guarded(["sh", "-c", script], folder=folder, environment=clean_environment())


async def test_the_guardian_passes_on_input_output_and_exit_code(tmp_path):
    process = await start("read x; echo out $x; echo err >&2; exit 3", tmp_path)
    process.stdin.write(b"in\n")
    assert await process.output.read() == b"out in\nerr\n"
    assert await process.wait() == 3
    await process.close()


@pytest.mark.parametrize(("script", "code"), [("kill -9 $$", 137), ("kill -INT $$", 130)])
async def test_a_command_that_a_signal_ended_has_128_and_its_number(tmp_path, script, code):
    process = await start(script, tmp_path)
    assert await process.wait() == code
    await process.close()


async def test_a_program_that_is_missing_is_said_to_be(tmp_path):
    process = await start_guarded(["no-such-program"], folder=tmp_path, environment=clean_environment())
    assert await process.output.read() == b"no-such-program: No such file or directory\n"
    assert await process.wait() == 127
    await process.close()


async def test_when_the_command_ends_its_daemons_end(tmp_path):
    process = await start(DAEMON + "; sleep 0.1", tmp_path)
    daemon = int(await process.output.readline())
    assert await process.wait() == 0
    assert not alive(daemon)
    await process.close()


async def test_closing_kills_the_command_and_its_daemons(tmp_path):
    process = await start(DAEMON + "; sleep 1000", tmp_path)
    daemon = int(await process.output.readline())
    commands = await process.descendants()
    assert daemon in commands
    await process.close()
    assert not any(map(alive, commands))
    await process.close()


async def test_a_signal_reaches_all_but_those_that_are_spared(tmp_path):
    process = await start(DAEMON + "; exec sleep 1000", tmp_path)
    daemon = int(await process.output.readline())
    await process.send_signal(signal.SIGINT, spare=[daemon])
    assert await process.wait() == 130
    await process.close()


KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
from clew.tools.sandbox.process import start_guarded

async def main():
    script = "(setsid sh -c 'echo $$; exec sleep 1000' &); echo $$; trap '' INT TERM HUP; sleep 1000"
    process = await start_guarded(["sh", "-c", script], folder=Path(), environment=os.environ)
    for _ in range(2):
        os.write(1, await process.output.readline())
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_nothing_outlives_a_process_that_is_killed(tmp_path):
    ours = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED, cwd=tmp_path, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await ours.communicate()
    assert ours.returncode == -signal.SIGKILL
    pids = list(map(int, output.split()))
    assert len(pids) == 2
    async with asyncio.timeout(20):
        while any(map(alive, pids)):  # noqa: ASYNC110 - they are not our children
            await asyncio.sleep(0.01)


async def test_the_environment_has_no_secret_of_ours(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    process = await start("env", tmp_path)
    output = await process.output.read()
    assert b"PATH=" in output
    assert b"sk-secret" not in output
    await process.close()


def alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and "Z" not in state
