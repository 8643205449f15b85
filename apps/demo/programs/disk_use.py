"""Find out what fills the disk in this Python environment, into disk.json: kinds of files, large ones, copies."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

SMALLEST_COPY = 16_384
"""Bytes; smaller files are not compared."""

LARGEST = 12
"""Files that are listed."""


def main() -> None:
    """Look at every file, compare those that may be the same, and say what was found."""
    files = list(recorded_files())
    kinds: Counter[str] = Counter()
    for file in files:
        kinds[file["kind"]] += file["bytes"]
    files.sort(key=lambda file: (-file["bytes"], file["path"]))
    copies = wasted(files)
    largest = [{key: file[key] for key in ("path", "bytes", "package")} for file in files[:LARGEST]]
    found = {"kinds": kinds.most_common(), "largest": largest, "copies": copies}
    Path("disk.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    kind, size = kinds.most_common(1)[0]
    print(f"Most of the disk use is {kind} files, {size / 1e6:.1f} MB of {sum(kinds.values()) / 1e6:.1f} MB.")
    print(f"{copies['files']} files are copies of others, byte for byte; they take {copies['bytes'] / 1e6:.1f} MB.")


def recorded_files() -> Iterator[dict[str, Any]]:
    """Every file that an installer recorded, once."""
    seen = set()
    for found in distributions():
        name = found.name  # it is read from the metadata anew each time
        for file in found.files or ():
            place = Path(str(found.locate_file(file)))
            if place in seen or not place.is_file():
                continue
            seen.add(place)
            size = place.stat().st_size
            yield {"place": place, "path": str(file), "package": name, "kind": kind_of(place), "bytes": size}


def kind_of(place: Path) -> str:
    """The suffix of a file, without the version that follows it in names such as `libz.so.1`."""
    suffixes = [suffix for suffix in place.suffixes if not suffix[1:].isdigit()]
    return suffixes[-1].lower() if suffixes else "(no suffix)"


def wasted(files: list[dict[str, Any]]) -> dict[str, int]:
    """How many files repeat another one's content, and their bytes. Only files of one size are read."""
    by_size = defaultdict(list)
    for file in files:
        if file["bytes"] >= SMALLEST_COPY:
            by_size[file["bytes"]].append(file["place"])
    count = size = 0
    for length, places in by_size.items():
        if len(places) > 1:
            again = len(places) - len({fingerprint(place) for place in places})
            count, size = count + again, size + again * length
    return {"files": count, "bytes": size}


def fingerprint(place: Path) -> str:
    """The SHA-256 of a file."""
    with place.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    main()
