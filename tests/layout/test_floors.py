"""The floors of the house: who may import whom."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

from source_tree import FLOORS, ROOT, absolute_imports, library, own_imports


def test_every_folder_with_a_package_stands_on_a_floor() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert folders == set(FLOORS), "give each package its floor in tests/support/source_tree.py and in pyproject.toml"


def test_a_file_imports_only_from_its_own_floor_or_below() -> None:
    faults = [
        f"{file.at(node)}: floor {FLOORS[file.folder]} imports {target.path} of floor {FLOORS[target.folder]}"
        for file in library()
        for node, target in own_imports(file)
        if FLOORS[target.folder] > FLOORS[file.folder]
    ]
    assert not faults, "move what is shared to a lower floor, or pass it in:\n" + "\n".join(faults)


def test_no_files_import_each_other_in_a_circle() -> None:
    graph = {str(file.path): {str(target.path) for _, target in own_imports(file)} for file in library()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(f"split one of these files: {' <- '.join(error.args[1])}") from error


def test_imports_inside_the_package_are_relative() -> None:
    faults = [
        f"{file.at(node)}: write a relative import instead of {name}"
        for file in library()
        for node, name in absolute_imports(file)
        if (name == "clew" or name.startswith("clew.")) and not getattr(node, "level", 0)
    ]
    assert not faults, "\n".join(faults)


def test_importing_the_root_loads_nothing_else() -> None:
    script = "import sys; before = set(sys.modules); import clew; print(*sorted(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["clew"], f"__init__.py at the root holds a docstring only; `import clew` loaded {loaded}"
