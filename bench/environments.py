"""The environment of each peer, made once and kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

OUT = Path(__file__).parent / "out"
ENVIRONMENTS = OUT / "envs"


def python_of(name: str, packages: Sequence[str]) -> str:
    """The interpreter of an environment with the packages; ours where there are none to install."""
    if not packages:
        return sys.executable
    folder = ENVIRONMENTS / name
    python, stamp = folder / "bin" / "python", folder / "packages.json"
    wanted = json.dumps(list(packages))
    if not stamp.exists() or stamp.read_text() != wanted:
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--clear", "--python", sys.executable, folder], check=True)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", python, *packages], check=True)
        stamp.write_text(wanted)
    return str(python)


def version_in(name: str, package: str) -> str:
    """The version of a package in an environment; in ours for clew's own."""
    folder = ENVIRONMENTS / name
    if not name:
        return version(package)
    code = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([folder / "bin" / "python", "-c", code], check=True, text=True, stdout=-1).stdout.strip()
