"""What a model sees of a file or a folder of the workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ...state.errors import ToolFailure
from ..image_blocks import Content, with_images
from ..workspace import Workspace
from .display import numbered, tree
from .document import Document, parse
from .picture import is_picture, show_picture

MOST_BYTES = 10_000_000
"""Size of a file that is read."""


def view(workspace: Workspace, file: Path, view_range: Sequence[int] | None) -> Content:
    """A text file with line numbers, a picture, or a folder two levels deep.

    Args:
        workspace: Where the file is.
        file: The file or folder, resolved.
        view_range: First and last line of a text file, from 1; -1 as last line for the end.

    Raises:
        ToolFailure: there is no such file, or no such lines in it.
    """
    if file.is_dir():
        _refuse_range(view_range, workspace.name(file), "a folder")
        return tree(file)
    content = read(workspace, file)
    if is_picture(content):
        _refuse_range(view_range, workspace.name(file), "a picture")
        line, block = show_picture(workspace.name(file), content)
        return with_images(line, [block])
    return _view_text(parse(content), view_range)


def read(workspace: Workspace, file: Path) -> bytes:
    """The bytes of a file.

    Raises:
        ToolFailure: it is not there, no regular file, or too large.
    """
    name = workspace.name(file)
    if file.is_dir():
        raise ToolFailure(f"{name} is a folder; give a file.")
    if not file.exists():
        raise ToolFailure(f"There is no file {name}; view the folder to see what there is.")
    if not file.is_file():
        raise ToolFailure(f"{name} is no regular file; give a text file.")
    if (size := file.stat().st_size) > MOST_BYTES:
        raise ToolFailure(f"{name} has {size} bytes, more than the editor reads ({MOST_BYTES}); use bash or Python.")
    return file.read_bytes()


def _refuse_range(view_range: Sequence[int] | None, name: str, what: str) -> None:
    if view_range is not None:
        raise ToolFailure(f"{name} is {what}; leave `view_range` out.")


def _view_text(document: Document, view_range: Sequence[int] | None) -> str:
    lines = document.lines
    if not lines:
        return "[the file is empty]"
    first, last = view_range or (1, -1)
    last = len(lines) if last == -1 else min(last, len(lines))
    if not 1 <= first <= last:
        raise ToolFailure(f"`view_range` is {view_range}, but the lines are 1 to {len(lines)}; choose of them.")
    encoding = "" if document.encoding == "utf-8" else f"[{document.encoding}]\n"
    return encoding + numbered(lines, first, last)
