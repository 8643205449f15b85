"""The MCP servers that everybody uses, each in an environment of its own beside that of the tests.

`python tests/support/mcp_servers.py` installs them, once for each version. Without node or a registry the tests of
those that are missing skip, and say so.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

NPM: Mapping[str, str] = {
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
    "@modelcontextprotocol/server-memory": "2026.8.31",
}
"""Packages for node, and their versions."""

PYPI: Mapping[str, str] = {"mcp-server-git": "2026.10.19", "mcp-server-time": "2026.10.19"}
"""Packages for Python, and their versions."""

FOLDER = Path(sys.prefix, "mcp-servers")
"""Where they are installed: with the environment of the tests, which `make clean` removes."""


def command_of(package: str) -> list[str] | None:
    """The program and the arguments that start a server; None where it is not installed."""
    folder = _folder(package)
    if not (folder / "done").exists():
        return None
    if package in NPM:
        return ["node", str(folder / "node_modules" / package / "dist" / "index.js")]
    return [str(folder / "bin" / package)]


def install(package: str) -> bool:
    """Install a server, and say whether it is there afterwards."""
    if command_of(package):
        return True
    folder = _folder(package)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    steps = _npm_steps(package, folder) if package in NPM else _pypi_steps(package, folder)
    for step in steps:
        try:
            subprocess.run(step, check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or b"").decode(errors="replace").strip().splitlines()
            print(f"could not install {package}: {said[-1] if said else error}", file=sys.stderr)
            return False
    (folder / "done").touch()
    return True


def _folder(package: str) -> Path:
    return FOLDER / f"{package.rpartition('/')[2]}-{({**NPM, **PYPI})[package]}"


def _npm_steps(package: str, folder: Path) -> list[list[str]]:
    npm = shutil.which("npm") or "npm"
    options = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    return [[npm, "install", "--prefix", str(folder), *options, f"{package}@{NPM[package]}"]]


def _pypi_steps(package: str, folder: Path) -> list[list[str]]:
    uv = [sys.executable, "-m", "uv"]
    python = str(folder / "bin" / "python")
    return [
        [*uv, "venv", "--quiet", "--python", sys.executable, "--allow-existing", str(folder)],
        [*uv, "pip", "install", "--quiet", "--python", python, f"{package}=={PYPI[package]}"],
    ]


def main() -> None:
    """Install all of them."""
    for package in [*NPM, *PYPI]:
        install(package)


if __name__ == "__main__":
    main()
