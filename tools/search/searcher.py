"""Searches a folder. A script of its own, so that a regular expression that never ends can be killed.

    python searcher.py    < QUERY

QUERY is a JSON object: `path`, `glob` or null, `pattern` or null, `ignore_case`, `most`. Prints a path a line, or with
a pattern `path:line: text`, then a note where there is more. Files that a `.gitignore` names are passed over.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator

from pathspec import GitIgnoreSpec

SKIPPED = frozenset({".git", ".clew", ".hg", ".svn", "node_modules", "__pycache__", ".venv"})
"""Folders that are never looked into."""

MOST_BYTES = 10_000_000
"""Size of a file whose content is searched."""

MOST_CHARACTERS = 300
"""Characters of a line that are shown."""

Rules = list[tuple[str, GitIgnoreSpec]]


def main() -> None:
    """Answer the query on standard input."""
    query = json.load(sys.stdin)
    found = search(query["path"], query["glob"], _compiled(query["pattern"], query["ignore_case"]))
    count = 0
    for line in found:
        if count == query["most"]:
            print(f"[more than {count} results; narrow the search]")
            return
        print(line.encode(errors="backslashreplace").decode())
        count += 1
    if count == 0:
        print("[nothing found]")


def search(root: str, glob: str | None, pattern: re.Pattern[str] | None) -> Iterator[str]:
    """Results under `root`, by path; paths are relative to the current folder."""
    wanted = None if glob is None else GitIgnoreSpec.from_lines([glob])
    for path in [root] if os.path.isfile(root) else files(root, []):  # noqa: PTH113 - pathlib is slow over many files
        name = os.path.relpath(path)
        if wanted is not None and not wanted.match_file(os.path.relpath(path, root)):
            continue
        if pattern is None:
            yield name
        else:
            yield from (f"{name}:{number}: {line}" for number, line in _matches(path, pattern))


def files(folder: str, rules: Rules) -> Iterator[str]:
    """Paths of the files below `folder` that no rule names, sorted."""
    rules = [*rules, *_rules(folder)]
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except PermissionError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if (is_folder and entry.name in SKIPPED) or _ignored(entry.path, is_folder, rules):
            continue
        if is_folder:
            yield from files(entry.path, rules)
        elif entry.is_file():
            yield entry.path


def _rules(folder: str) -> Rules:
    try:
        with open(f"{folder}/.gitignore", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            return [(folder, GitIgnoreSpec.from_lines(file))]
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        return []


def _ignored(path: str, is_folder: bool, rules: Rules) -> bool:
    # The rule of the deepest folder that says anything decides.
    for folder, spec in reversed(rules):
        answer = spec.check_file(os.path.relpath(path, folder) + ("/" if is_folder else "")).include
        if answer is not None:
            return answer
    return False


def _matches(path: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    try:
        if os.path.getsize(path) > MOST_BYTES:  # noqa: PTH202
            return
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read()
    except OSError:
        return
    if b"\0" in content:
        return
    for number, line in enumerate(content.decode(errors="replace").splitlines(), 1):
        if pattern.search(line):
            yield number, line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}…"


def _compiled(pattern: str | None, ignore_case: bool) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(pattern, re.IGNORECASE if ignore_case else 0)


if __name__ == "__main__":
    main()
