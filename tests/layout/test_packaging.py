"""What is installed: every file of the package, every dependency pinned by its hash."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from source_tree import FLOORS, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
SHIPPED = {".py", ".md", ".js"}


def package_files() -> set[str]:
    """Names that the files of the package must have in a wheel."""
    files = [path for folder in FLOORS for path in (ROOT / folder).rglob("*") if path.suffix in SHIPPED]
    return {f"clew/{path.relative_to(ROOT)}" for path in files} | {"clew/__init__.py", "clew/py.typed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of the files in a wheel that is built from a copy of the tree."""
    copy = tmp_path_factory.mktemp("build") / "clew"
    copy.mkdir()
    for name in ("__init__.py", "py.typed", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in FLOORS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    script = "from setuptools import build_meta; print(build_meta.build_wheel('dist'))"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], cwd=copy, check=True, capture_output=True)
    (built,) = (copy / "dist").glob("*.whl")
    return set(zipfile.ZipFile(built).namelist())


def test_every_file_of_the_package_is_in_the_wheel(wheel: set[str]) -> None:
    missing = sorted(package_files() - wheel)
    assert not missing, f"list its folder under [tool.setuptools] in pyproject.toml: {', '.join(missing)}"


def test_nothing_else_is_in_the_wheel(wheel: set[str]) -> None:
    extra = sorted(name for name in wheel - package_files() if ".dist-info/" not in name)
    assert not extra, f"these do not belong to the package: {', '.join(extra)}"


def test_every_folder_of_python_files_is_a_listed_package() -> None:
    folders = {path.parent.relative_to(ROOT) for folder in FLOORS for path in (ROOT / folder).rglob("*.py")}
    expected = {".".join(("clew", *folder.parts)): folder.as_posix() for folder in folders} | {"clew": "."}
    setuptools = PROJECT["tool"]["setuptools"]
    assert setuptools["package-dir"] == expected
    assert sorted(setuptools["packages"]) == sorted(expected)
    assert all((ROOT / folder / "__init__.py").exists() for folder in folders)


def locked() -> dict[str, str]:
    """Text of the block of each package in the lock, by its canonical name; several where markers choose."""
    blocks: dict[str, str] = {}
    for block in re.split(r"(?m)^(?=[a-zA-Z])", LOCK)[1:]:
        name = canonicalize_name(block.partition("==")[0])
        blocks[name] = blocks.get(name, "") + block
    return blocks


def test_the_lock_pins_every_dependency_and_every_extra() -> None:
    project = PROJECT["project"]
    extras = project["optional-dependencies"].values()
    wanted = [Requirement(line) for lines in (project["dependencies"], *extras) for line in lines]
    names = {canonicalize_name(requirement.name) for requirement in wanted} - {"clew"}
    assert not names - locked().keys(), "run `make lock`"


def test_the_lock_meets_the_bounds_of_the_project() -> None:
    project = PROJECT["project"]
    blocks = locked()
    for line in [
        *project["dependencies"],
        *(line for extra in project["optional-dependencies"].values() for line in extra),
    ]:
        requirement = Requirement(line)
        for version in re.findall(r"(?m)^[\w.-]+==([^ \\]+)", blocks.get(canonicalize_name(requirement.name), "")):
            assert requirement.specifier.contains(version), f"{line} but {version} is locked: run `make lock`"


def test_every_package_in_the_lock_has_hashes_and_no_address() -> None:
    assert all("--hash=sha256:" in block for block in locked().values())
    assert "://" not in LOCK
    assert "index-url" not in LOCK


def test_the_versions_of_python_are_those_of_the_classifiers() -> None:
    named = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    assert named == ["3.11", "3.12", "3.13"]
    assert PROJECT["project"]["requires-python"] == ">=3.11,<3.14"


def test_the_guide_for_developers_names_every_folder() -> None:
    guide = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    missing = [folder for folder in FLOORS if f"`{folder}/`" not in guide]
    assert not missing, f"add to the table of AGENTS.md: {missing}"


def test_make_lists_every_target_that_a_person_may_call() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = subprocess.run(["make", "-C", str(ROOT), "help"], capture_output=True, text=True, check=True).stdout
    targets = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split()
    assert [target for target in targets if f"make {target} " not in shown] == []


def test_ci_runs_the_same_command_as_a_person() -> None:
    script = Path(ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.rstrip().endswith("exec make test")
