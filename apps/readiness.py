"""What a run needs is looked at before it begins: found missing later, it would end the run in the middle."""

from __future__ import annotations

import os
from pathlib import Path

from ..state.errors import UsageError


def check_workspace(folder: Path | None) -> None:
    """See that the workspace is a folder, or can be made. Blocking.

    Args:
        folder: The workspace; None for one that each thread has of its own.

    Raises:
        UsageError: it is a file, or lies below one.
    """
    if folder is None:
        return
    whole = folder.absolute()
    nearest = next(path for path in (whole, *whole.parents) if os.path.lexists(path))
    if not nearest.is_dir():
        found = f"{nearest} is no folder"
        wrong = f"the workspace {found}" if nearest == whole else f"the workspace {whole} cannot be made: {found}"
        advice = "name one, or one that is to be made, with --workspace, CLEW_WORKSPACE or `workspace` in clew.toml"
        raise UsageError(f"{wrong}; {advice}")
