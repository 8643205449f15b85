"""clew may be started in the background, where the shell has it ignore the keyboard's signals."""

import signal
import subprocess
import sys

PROGRAM = """
import asyncio, pathlib, sys
from clew.state.sandbox import SandboxOptions
from clew.state.tools import ToolSettings
from clew.tools.catalog import build_tools

async def main():
    settings = ToolSettings(sandbox=SandboxOptions(backend="local"))
    [bash] = build_tools(["bash"], workspace=pathlib.Path(sys.argv[1]), settings=settings)
    config = {"configurable": {"thread_id": "t"}}
    await bash.ainvoke({"command": "x=5; for i in 1 2 3; do sleep 100; done", "timeout": 0.5}, config)
    print(await bash.ainvoke({"command": "echo $x"}, config))

asyncio.run(main())
"""


def test_a_command_is_interrupted_and_its_session_lives_on(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert done.stdout.startswith("5\n")
