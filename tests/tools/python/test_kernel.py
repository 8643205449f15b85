import asyncio
import base64

import pytest
from blockbuster import blockbuster_ctx

from clew.state.errors import ToolFailure
from clew.tools.python import kernel
from clew.tools.resources import Scope, resources

TOOL = "python_execute"

pytest.importorskip("ipykernel")

pytestmark = pytest.mark.usefixtures("backend")

SHOW = """
from base64 import b64decode
from IPython.display import Image
Image(b64decode({data!r}))
"""

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
def cell(call):
    """Runs one cell in the kernel of the thread."""

    async def run(code, **arguments):
        return await call(code=code, stateful=True, **arguments)

    return run


async def test_a_kernel_does_in_order_what_a_notebook_does(cell, call):
    """One kernel for all of it, because a kernel takes long to start."""
    assert (await cell("x = 20")).content == "[exit code 0]"
    assert (await cell("x * 2 + 2")).content == "42\n[exit code 0]"
    code = "import os, sys\nprint(1)\nprint(2, file=sys.stderr)\nos.system('echo 3')\nprint(4);"
    assert (await cell(code)).content == "1\n2\n3\n4\n[exit code 0]"

    failed = await cell("def divide(a, b):\n    return a / b\n\ndivide(x, 0)")
    assert failed.artifact["exit_code"] == 1
    assert "line 2 in divide\n    return a / b" in failed.content
    assert failed.content.endswith("ZeroDivisionError: division by zero\n[exit code 1]")
    assert "\x1b" not in failed.content

    stopped = await cell("import subprocess, time\nprint('begun')\nsubprocess.run(['sleep', '1000'])", timeout=0.5)
    assert stopped.artifact["timed_out"]
    assert stopped.content.startswith("begun\n")
    assert (await cell("x")).content == "20\n[exit code 0]"
    assert "NameError" in (await call(code="x")).content

    text, image = (await cell(SHOW.format(data=PIXEL))).content
    assert text["text"] == "[exit code 0]"
    assert (image["type"], image["mime_type"]) == ("image", "image/png")
    assert base64.b64decode(image["base64"]) == base64.b64decode(PIXEL)

    written = await cell("open('made.txt', 'w').write('x');")
    assert written.artifact["files"] == ["made.txt"]
    long = await cell("for i in range(100_000): print(i)")
    assert (call.workspace / long.artifact["output_file"]).read_text() == "".join(f"{n}\n" for n in range(100_000))

    left = await cell("import sys\nsys.exit(3)")
    assert left.artifact["exit_code"] == 3
    assert left.artifact["kernel_lost"]
    assert "[the kernel ended" in left.content
    assert resources().kinds(Scope("t")) == ["sandbox", "python"]
    assert list((call.workspace / ".clew" / "kernels").iterdir()) == []


@pytest.mark.parametrize("backend", ["local"])
async def test_code_that_heeds_no_interrupt_takes_its_kernel_with_it(cell, running):
    code = """
import signal, subprocess, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000.625"], start_new_session=True)
time.sleep(1000)
"""
    stopped = await cell(code, timeout=0.5)
    assert stopped.artifact["timed_out"]
    assert stopped.artifact["kernel_lost"]
    assert running("sleep 1000.625") == []


@pytest.mark.parametrize("backend", ["local"])
async def test_a_cancelled_cell_stops_the_work_and_the_next_call_begins_anew(cell, call, running):
    code = "import subprocess; open('started', 'w').write('1'); subprocess.run(['sleep', '1000.875'])"
    doing = asyncio.create_task(cell(code))
    await call.number_in("started")
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert running("sleep 1000.875") == []
    assert (await cell("'again'")).content == "'again'\n[exit code 0]"
    killed = await cell("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert killed.artifact["exit_code"] == 137
    assert killed.artifact["kernel_lost"]


@pytest.mark.parametrize("backend", ["local"])
async def test_a_kernel_that_does_not_start_says_why(cell, monkeypatch):
    monkeypatch.setitem(kernel.ENVIRONMENT, "PYTHONHOME", "/nowhere")
    with pytest.raises(ToolFailure, match=r"The kernel did not start \(.+\); leave `stateful` out"):
        await cell("1")
    assert "kernel" not in resources().kinds(Scope("t"))


@pytest.mark.parametrize("backend", ["local"])
async def test_without_ipykernel_the_model_is_told(cell, monkeypatch):
    monkeypatch.setattr("clew.tools.python.kernel.find_spec", lambda name: None)
    with pytest.raises(ToolFailure, match="`stateful` needs the package ipykernel"):
        await cell("1")


@pytest.mark.parametrize("backend", ["local"])
async def test_figures_of_a_cell_come_back_and_the_event_loop_goes_on_meanwhile(cell):
    pytest.importorskip("matplotlib")
    code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\nprint('drawn')"
    with blockbuster_ctx():
        text, image = (await cell(code)).content
    assert text["text"] == "drawn\n[exit code 0]"
    assert base64.b64decode(image["base64"]).startswith(b"\x89PNG")
