"""Programs that tests need and pip cannot give: where they are, and the Debian packages that hold them.

`python tests/support/system_packages.py` installs what the marks `needs("…")` of the tests name and the machine
lacks, where it runs as root on Debian. Elsewhere it does nothing, and those tests skip.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {
    "Xvfb": "xvfb",
    "bwrap": "bubblewrap",
    "cjk-font": "fonts-wqy-zenhei",
    "chromium": "chromium",
    "initdb": "postgresql",
    "node": "nodejs",
    "npm": "npm",
    "openssl": "openssl",
}
"""Debian package of each program; `cjk-font` is no program but a font with Chinese, Japanese and Korean characters."""

FONTS = ("wqy-*.tt[cf]", "NotoSansCJK*.ttc", "NotoSansCJK*.otf")
"""Files of such fonts, as Debian names them."""

TESTS = Path(__file__).parents[1]

MARK = re.compile(r"\bmark\.needs\(([^)]*)\)")


def find_program(program: str) -> Path | None:
    """Where a program is: on the path, or where Debian keeps the PostgreSQL server's."""
    if program == "cjk-font":
        return next((file for name in FONTS for file in Path("/usr/share/fonts").rglob(name)), None)
    if found := shutil.which(program):
        return Path(found)
    servers = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))
    return servers[-1] if servers else None


def needed_programs(tests: Path = TESTS) -> set[str]:
    """Programs that the marks of the tests name."""
    named = (path for path in tests.rglob("*.py") if path.name == "conftest.py" or path.name.startswith("test_"))
    files = [path for path in named if path.parent.name != "layout"]
    texts = (path.read_text(encoding="utf-8") for path in files)
    arguments = " ".join(argument for text in texts for argument in MARK.findall(text))
    return set(re.findall(r"[\"']([\w-]+)[\"']", arguments)) & PACKAGES.keys()


def missing_packages(programs: set[str]) -> list[str]:
    """Debian packages of those programs that are not here."""
    return sorted(PACKAGES[program] for program in programs if find_program(program) is None)


def install(packages: list[str]) -> int:
    """Install Debian packages, and return the exit code of the package manager."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    options = ["-qq", "-y", "-o", "Dpkg::Use-Pty=0", "--no-install-recommends"]
    subprocess.run(["apt-get", "update", "-qq"], env=environment, check=False)
    return subprocess.run(["apt-get", "install", *options, *packages], env=environment, check=False).returncode


def main() -> None:
    """Install what is missing; a failure is told and left to the tests, which say what they lack."""
    packages = missing_packages(needed_programs())
    if not packages or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print(f"installing {', '.join(packages)}", flush=True)
    if install(packages) != 0:
        print(f"could not install {', '.join(packages)}: the tests that need them skip", file=sys.stderr)


if __name__ == "__main__":
    main()
