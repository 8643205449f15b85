"""List the packages installed in this Python environment, into inventory.json, and their sizes into sizes.csv."""

from __future__ import annotations

import csv
import json
import re
import stat
from collections.abc import Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

LONGEST_LICENCE = 40
"""Characters; a longer field holds the licence's text and not its name."""


def main() -> None:
    """Measure every package and say what was found."""
    packages = {}
    for found in distributions():
        if found.name and normal(found.name) not in packages:
            packages[normal(found.name)] = describe(found)
    ordered = [packages[name] for name in sorted(packages)]
    Path("inventory.json").write_text(json.dumps(ordered, indent=1), encoding="utf-8")
    with Path("sizes.csv").open("w", encoding="utf-8", newline="") as file:
        rows = [(package["name"], round(package["bytes"] / 1e6, 2)) for package in ordered]
        csv.writer(file).writerows([("package", "megabytes"), *rows])
    files, size = (sum(package[key] for package in ordered) for key in ("files", "bytes"))
    print(f"{len(ordered)} packages are installed, with {files:,} files and {size / 1e6:.1f} MB.")


def describe(found: Distribution) -> dict[str, Any]:
    """What the package's metadata and the file system say of it; `bytes` and `files` count its recorded files."""
    sizes = list(file_sizes(found))
    return {
        "name": normal(found.name),
        "version": found.version,
        "licence": licence(found),
        "files": len(sizes),
        "bytes": sum(sizes),
        "requires": sorted({name for line in found.requires or () if (name := needed(line))}),
    }


def file_sizes(found: Distribution) -> Iterator[int]:
    """Bytes of every file that the package's installer recorded and that is there."""
    for file in found.files or ():
        try:
            status = Path(str(found.locate_file(file))).stat()
        except OSError:
            continue
        if stat.S_ISREG(status.st_mode):
            yield status.st_size


def licence(found: Distribution) -> str:
    """The licence as the metadata states it: an expression, a short field or a classifier."""
    fields = found.metadata
    stated = [text.strip() for key in ("License-Expression", "License") for text in fields.get_all(key) or []]
    classifiers = fields.get_all("Classifier") or []
    stated += [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License :: ")]
    short = [text for text in stated if text and "\n" not in text and len(text) <= LONGEST_LICENCE]
    return short[0] if short else "not stated"


def needed(requirement: str) -> str:
    """Name of the package that a requirement asks for; empty for one that only an extra asks for."""
    if "extra ==" in requirement:
        return ""
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    return normal(match[0]) if match else ""


def normal(name: str) -> str:
    """The name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main()
