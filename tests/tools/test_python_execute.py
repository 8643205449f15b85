import asyncio
import base64
import sys

import pytest

from clew.state.errors import ToolFailure
from clew.tools.python_execute import PythonExecute
from clew.tools.resources import Scope, resources
from clew.tools.sandbox.limits import SandboxOptions

TOOL = "python_execute"

pytestmark = pytest.mark.usefixtures("backend")


async def test_the_value_of_the_last_expression_is_echoed_as_in_a_notebook(call):
    assert (await call(code="x = 20\nx * 2 + 2")).content == "42\n[exit code 0]"
    assert (await call(code="x = 20\nx;\nNone")).content == "[exit code 0]"
    assert (await call(code="'a' 'b'")).content == "'ab'\n[exit code 0]"


async def test_standard_output_and_error_come_in_order_also_those_of_children(call):
    code = """
import os, sys
print(1)
print(2, file=sys.stderr)
os.system("echo 3")
print(4)
"""
    assert (await call(code=code)).content == "1\n2\n3\n4\n[exit code 0]"


async def test_a_traceback_is_whole_and_shows_the_code_alone(call):
    answer = await call(code="def divide(a, b):\n    return a / b\n\nprint('before')\ndivide(1, 0)")
    assert answer.artifact["exit_code"] == 1
    lines = answer.content.splitlines()
    assert lines[:2] == ["before", "Traceback (most recent call last):"]
    assert '  File "<python_execute>", line 5, in <module>' in lines
    assert "    return a / b" in lines
    assert lines[-2:] == ["ZeroDivisionError: division by zero", "[exit code 1]"]
    assert "runner" not in answer.content


async def test_a_syntax_error_shows_its_place(call):
    lines = (await call(code="x = 1\nx = = 2")).content.splitlines()
    assert lines[0] == '  File "<python_execute>", line 2'
    assert lines[-2:] == ["SyntaxError: invalid syntax", "[exit code 1]"]


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("import sys; sys.exit(3)", 3),
        ("exit()", 0),
        ("import os; os._exit(4)", 4),
        ("raise SystemExit('why')", 1),
        ("import sys; sys.exit(-1)", 255),
    ],
)
async def test_the_exit_code_is_reported(call, code, exit_code):
    assert (await call(code=code)).artifact["exit_code"] == exit_code


async def test_code_that_is_killed_says_so_in_its_exit_code(call):
    assert (await call(code="import os; os.kill(os.getpid(), 9)")).artifact["exit_code"] == 137


async def test_it_runs_as_main_with_the_interpreter_of_the_run_in_the_workspace(call):
    answer = await call(code="import sys, os\nprint(__name__, sys.executable, os.getcwd(), sys.argv)")
    assert answer.content == f"__main__ {sys.executable} {call.workspace} ['']\n[exit code 0]"


async def test_modules_of_the_workspace_can_be_imported(call):
    await call(code="open('mine.py', 'w').write('X = 5')")
    assert (await call(code="import mine\nmine.X")).content.startswith("5\n")


async def test_what_is_defined_in_the_code_can_be_pickled(call):
    code = """
import pickle
from dataclasses import dataclass

@dataclass
class Point:
    x: int

pickle.loads(pickle.dumps(Point(3)))
"""
    assert (await call(code=code)).content == "Point(x=3)\n[exit code 0]"


async def test_input_is_empty(call):
    assert "EOFError" in (await call(code="input('name? ')")).content


async def test_nothing_is_remembered_between_calls(call):
    await call(code="x = 5")
    assert "NameError" in (await call(code="x")).content


async def test_files_that_were_written_are_listed_and_others_are_not(call):
    call.workspace.mkdir()
    (call.workspace / "old.txt").write_text("old")
    (call.workspace / "changed.txt").write_text("old")
    await asyncio.sleep(0.02)  # more than one tick of the clock that stamps files
    code = """
import os, shutil
os.makedirs("sub/deep")
open("sub/deep/new.csv", "w").write("a,b")
open("changed.txt", "a").write("new")
shutil.copy2("old.txt", "copy.txt")
open("old.txt").read()
"""
    answer = await call(code=code)
    assert answer.artifact["files"] == ["changed.txt", "copy.txt", "sub/deep/new.csv"]
    assert "[files written: changed.txt, copy.txt, sub/deep/new.csv]" in answer.content


async def test_code_that_runs_out_of_time_is_stopped_with_its_children(call, running):
    code = """
import subprocess, time
subprocess.Popen(["sleep", "1000.125"], start_new_session=True)
print("started")
time.sleep(1000)
"""
    await call(code="'the worker is warm'")
    answer = await call(code=code, timeout=1.5)
    assert answer.artifact["timed_out"]
    assert answer.content == "started\n[stopped: it ran for more than 1.5 seconds]"
    assert running("sleep 1000.125") == []


async def test_long_output_is_capped_and_saved_whole(call):
    answer = await call(code="for i in range(100_000): print(i)")
    assert len(answer.content) < 25_000
    whole = (call.workspace / answer.artifact["output_file"]).read_text()
    assert whole == "".join(f"{number}\n" for number in range(100_000))


async def test_the_event_loop_goes_on_meanwhile(call):
    running = asyncio.create_task(call(code="import time; time.sleep(0.3)"))
    ticks = 0
    while not running.done():
        await asyncio.sleep(0.01)
        ticks += 1
    await running
    assert ticks > 3


async def test_several_calls_run_at_once(call):
    code = """
import pathlib, time
pathlib.Path("{own}").touch()
while not pathlib.Path("{other}").exists():
    time.sleep(0.01)
"""
    calls = (call(code=code.format(own="a", other="b")), call(code=code.format(own="b", other="a")))
    assert [answer.artifact["exit_code"] for answer in await asyncio.gather(*calls)] == [0, 0]


async def test_any_string_can_be_printed(call):
    assert (await call(code="print('é\\ud800')")).content == "é\\ud800\n[exit code 0]"


async def test_keys_and_tokens_of_ours_are_not_in_its_environment(call, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert "sk-secret" not in (await call(code="import os; print(os.environ)")).content


@pytest.mark.parametrize(("code", "reason"), [("a\0b", "NUL"), ("'\ud800'", "Unicode")])
async def test_what_is_no_text_is_refused_with_a_sentence(call, code, reason):
    with pytest.raises(ToolFailure, match=reason):
        await call(code=code)


async def test_a_cancelled_call_stops_the_work(call, running):
    code = "import subprocess; open('started', 'w').write('1'); subprocess.run(['sleep', '1000.75'])"
    doing = asyncio.create_task(call(code=code))
    await call.number_in("started")
    doing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await doing
    assert running("sleep 1000.75") == []


async def test_calls_do_not_share_their_random_numbers(call):
    numbers = {(await call(code="import random; random.random()")).content for _ in range(3)}
    assert len(numbers) == 3


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize("backend", ["bubblewrap"])
async def test_code_that_kills_all_it_can_reach_harms_no_later_call(call):
    assert (await call(code="import os; os.kill(-1, 9)")).artifact["exit_code"] == 137
    assert (await call(code="'again'")).content == "'again'\n[exit code 0]"


async def test_a_worker_that_died_meanwhile_is_replaced(call):
    await call(code="1")
    pool, scope = resources(), Scope("t")

    async def unused():
        raise AssertionError("the worker is open")

    async with pool.use(scope, "python", unused) as worker:
        await worker.close()
    assert (await call(code="'again'")).content == "'again'\n[exit code 0]"


async def test_code_may_use_processes_of_its_own(call):
    code = """
import multiprocessing

def square(x):
    return x * x

with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(square, [2, 3]))
"""
    assert (await call(code=code)).content == "[4, 9]\n[exit code 0]"


async def test_threads_and_exit_handlers_end_as_they_do_in_an_interpreter(call):
    code = """
import atexit, sys, threading, time
atexit.register(print, "handler")
threading.Thread(target=lambda: (time.sleep(0.1), print("thread"))).start()
print("main")
"""
    assert (await call(code=code)).content == "main\nthread\nhandler\n[exit code 0]"


async def test_modules_can_be_imported_beforehand(tmp_path, backend):
    tool = PythonExecute(workspace=tmp_path, sandbox=SandboxOptions(backend=backend), preload=("turtledemo", "no_such"))
    message = await tool.ainvoke({"code": "import sys; 'turtledemo' in sys.modules"})
    assert message == "True\n[exit code 0]"
    await resources().close_all()


@pytest.mark.parametrize("backend", ["local"])
async def test_figures_that_are_open_at_the_end_come_back_as_images(call):
    pytest.importorskip("matplotlib")
    code = """
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.show()
plt.figure(figsize=(1, 1))
print(plt.get_fignums())
1 / 0
"""
    answer = await call(code=code)
    text, *images = answer.content
    assert text["text"].startswith("[1, 2]\nTraceback")
    assert answer.artifact["figures"] == 2
    assert len({image["base64"] for image in images}) == 2
    assert all(base64.b64decode(image["base64"]).startswith(b"\x89PNG") for image in images)


@pytest.mark.parametrize("backend", ["local"])
async def test_code_cannot_pass_something_else_for_a_figure(call):
    code = """
import os, sys, types
forged = types.ModuleType("matplotlib.pyplot")
forged.get_fignums = lambda: [1, 2]
forged.figure = lambda number: types.SimpleNamespace(savefig=lambda file, **_: file.write(b"<svg>" * number))
sys.modules["matplotlib.pyplot"] = forged
"""
    assert (await call(code=code)).content == "[exit code 0]"


async def test_a_preloaded_pandas_has_made_a_table_before_the_code_makes_its_first(tmp_path):
    pytest.importorskip("pandas")
    tool = PythonExecute(workspace=tmp_path, sandbox=SandboxOptions(backend="local"), preload=("pandas",))
    code = """
import sys
before = set(sys.modules)
import pandas
repr(pandas.DataFrame({"a": [1], "b": ["x"]}))
print(sorted(name for name in set(sys.modules) - before if name.startswith(("pandas", "pyarrow"))))
"""
    assert (await tool.ainvoke({"code": code})).startswith("[]\n")
    await resources().close_all()
