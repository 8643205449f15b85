"""The plugins in tests/support, run in a pytest of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import system_packages
from source_tree import ROOT

SKIPPING = """
import pytest

@pytest.mark.skip(reason="no moon tonight")
def test_skipped(): pass

def test_skips_inside(): pytest.skip("no moon tonight")

@pytest.mark.xfail(reason="known")
def test_expected_to_fail(): assert False
"""

SKIPPING_WHOLE = 'import pytest\npytest.skip("no moon tonight", allow_module_level=True)\n'


@pytest.fixture
def run(tmp_path: Path):
    """Run pytest with the plugins over one file, and return its exit code and output."""

    def run(text: str, **environment: str) -> tuple[int, str]:
        (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
        (tmp_path / "pytest.ini").write_text(
            "[pytest]\naddopts = -p environment -p no_skips -p needs -p no:cacheprovider\n"
        )
        inherited = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTEST_ADDOPTS"}}
        path = {"PYTHONPATH": str(ROOT / "tests" / "support"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        command = [sys.executable, "-m", "pytest", "-q", "-rs", str(tmp_path)]
        done = subprocess.run(
            command, env={**inherited, **path, **environment}, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout + done.stderr

    return run


def test_a_skip_is_a_skip_where_a_person_runs_the_tests(run) -> None:
    code, output = run(SKIPPING)
    assert code == 0
    assert "2 skipped, 1 xfailed" in output


def test_a_skip_fails_on_ci_with_its_reason(run) -> None:
    code, output = run(SKIPPING, CI="true")
    assert code == 1
    assert "skipped, which CI=true forbids: Skipped: no moon tonight" in output
    assert "1 xfailed" in output
    assert " skipped" not in output.splitlines()[-1]


def test_a_file_that_skips_as_a_whole_fails_on_ci(run) -> None:
    code, output = run(SKIPPING_WHOLE, CI="true")
    assert code != 0
    assert "no moon tonight" in output


def test_tests_see_no_settings_of_the_person_who_runs_them(run) -> None:
    text = (
        "import os\ndef test_it(): assert 'CLEW_MODEL' not in os.environ and os.environ['LANGSMITH_TRACING'] == 'false'"
    )
    assert run(text, CLEW_MODEL="openai:mine", LANGSMITH_TRACING="true")[0] == 0


def test_a_test_that_needs_a_missing_program_says_which_package_has_it(run) -> None:
    text = "import pytest\n@pytest.mark.needs('bwrap')\ndef test_it(): pass"
    code, output = run(text, PATH=os.devnull)
    assert code == 0
    assert "install the Debian package bubblewrap" in output


def test_programs_are_found_by_the_marks_that_name_them(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "test_it.py").write_text(
        '@pytest.mark.needs("node", "npm")\npytestmark = pytest.mark.needs("bwrap")'
    )
    assert system_packages.needed_programs(tmp_path) == {"node", "npm", "bwrap"}


def test_only_missing_programs_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_packages.shutil, "which", lambda program: None if program == "bwrap" else program)
    assert system_packages.missing_packages({"bwrap", "node"}) == ["bubblewrap"]
