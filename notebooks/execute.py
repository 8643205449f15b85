"""Execute notebooks anew and keep their output: `python notebooks/execute.py [--into FOLDER] [NOTEBOOK ...]`."""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SECONDS = 90
"""Time that one cell may take."""


def execute(source: Path, target: Path) -> None:
    """Execute a notebook in a kernel of its own and write it with its output, without what differs by machine."""
    notebook = nbformat.read(source, as_version=4)
    place = {"metadata": {"path": str(target.parent)}}
    NotebookClient(notebook, timeout=SECONDS, record_timing=False, coalesce_streams=True, resources=place).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.validate(notebook)
    nbformat.write(notebook, target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(Path(__file__).parent.glob("*.ipynb")))
    parser.add_argument("--into", type=Path, help="folder for the results; the notebooks themselves by default")
    arguments = parser.parse_args()
    for source in arguments.notebooks:
        execute(source, (arguments.into or source.parent) / source.name)
        print(f"executed {source.name}")


if __name__ == "__main__":
    main()
