from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.apps.cli.main import main

HELP = "import sys; from clew.apps.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"


def cpu_seconds(code: str) -> float:
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def test_help_costs_at_most_ten_times_the_cpu_of_an_empty_python():
    empty = min(cpu_seconds("pass") for _ in range(5))
    assert min(cpu_seconds(HELP) for _ in range(5)) <= 10 * empty


def test_help_imports_none_of_the_heavy_packages():
    heavy = "{'langgraph', 'langchain_core', 'openai', 'rich', 'pydantic', 'asyncio'}"
    check = f"{HELP}\nprint(sorted({heavy} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_help_names_every_command_and_the_exit_codes(clew):
    result = clew("--help")
    files = Path(main.__code__.co_filename).parent.glob("*.py")
    commands = [path.stem for path in files if "\ndef run(arguments: Namespace) -> int:" in path.read_text()]
    assert result.code == 0
    assert len(commands) >= 12
    assert [name for name in commands if f"\n    {name} " not in result.out] == []
    assert "3 waiting" in result.out


@pytest.mark.parametrize("argv", [[], ["fly"], ["run"], ["run", "x", "--max-steps", "0"], ["resume"]])
def test_a_wrong_command_line_is_a_usage_error(clew, argv):
    assert clew(*argv).code == 2


@pytest.mark.parametrize(
    ("argv", "prog", "sentence"),
    [
        (["run", "x", "--modle", "y"], "clew run", "unrecognized arguments: --modle y (did you mean --model?)"),
        (
            ["resume", "t1", "--answr=red"],
            "clew resume",
            "unrecognized arguments: --answr=red (did you mean --answer?)",
        ),
        (["run", "list", "the", "files"], "clew run", "unrecognized arguments: the files"),
        (["mcp", "test", "maze", "--fast"], "clew mcp test", "unrecognized arguments: --fast"),
        (["serve", "a2a", "--prot", "1"], "clew serve a2a", "unrecognized arguments: --prot 1 (did you mean --port?)"),
        (["threads", "-x"], "clew threads", "unrecognized arguments: -x"),
        (["--loud", "threads"], "clew", "unrecognized arguments: --loud"),
    ],
)
def test_what_a_command_does_not_know_is_refused_with_its_own_usage(clew, argv, prog, sentence):
    result = clew(*argv)
    lines = result.err.splitlines()
    assert (result.code, result.out) == (2, "")
    assert lines[0].startswith(f"usage: {prog} [-h]")
    assert lines[-1] == f"{prog}: error: {sentence}; `{prog} --help` lists what there is"
