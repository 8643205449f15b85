"""The notebooks: each runs anew without an error, and is committed with the output of its code."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from source_tree import ROOT

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

MACHINE = re.compile(r"/(?:tmp|root|work|home|Users|var|private)/|site-packages|https?://(?:localhost|127\.)")
"""What would say on whose machine a notebook was executed."""

notebooks = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def texts(cell):
    """Every text among the outputs of a cell."""
    for output in cell.outputs:
        yield output.get("text", "")
        yield from (value for kind, value in output.get("data", {}).items() if kind.startswith("text/"))


def shape(cell):
    """What kinds of output a cell has: streams by name, data by type."""
    return [output.get("name") or sorted(output["data"]) for output in cell.outputs]


def test_there_are_notebooks_in_reading_order():
    numbers = [int(path.stem[:2]) for path in NOTEBOOKS]
    assert numbers == sorted(set(numbers))
    assert numbers[:3] == [1, 2, 3]


@pytest.mark.needs("chromium")
@notebooks
def test_it_runs_anew_and_says_things_of_the_same_kinds(path: Path, tmp_path: Path):
    command = [sys.executable, str(ROOT / "notebooks" / "execute.py"), "--into", str(tmp_path), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-4000:]
    fresh, committed = code_cells(tmp_path / path.name), code_cells(path)
    assert [shape(cell) for cell in fresh] == [shape(cell) for cell in committed], "run `make notebooks`"
    assert [file.name for file in tmp_path.iterdir()] == [path.name], "a notebook writes to a temporary folder alone"


@notebooks
def test_it_is_committed_as_it_was_executed_from_top_to_bottom(path: Path):
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert {"image/png", "text/plain"} in [set(kinds) for cell in cells for kinds in shape(cell)]
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]


@notebooks
def test_its_output_names_no_machine_and_no_time_of_execution(path: Path):
    cells = code_cells(path)
    assert [text for cell in cells for text in texts(cell) if MACHINE.search(text)] == []
    assert not [cell for cell in cells if "execution" in cell.metadata]
