"""The folder of a run's files, and the rule that no path leaves it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from langchain_core.runnables import RunnableConfig

from ..state.errors import ToolFailure
from ..state.settings import load_settings

PRIVATE_FOLDER = ".clew"
"""Folder inside the workspace for what the tools keep there: whole outputs, undo history."""


@dataclass(frozen=True)
class Workspace:
    """An existing folder, by its real path."""

    root: Path

    shown: PurePosixPath | None = None
    """Where commands see it, if not at `root`; paths below it are taken as paths below `root`."""

    def resolve(self, path: str) -> Path:
        """Real path of `path`, which is relative to the workspace or absolute inside it; it need not exist.

        Symbolic links are followed first, so a link cannot lead out.

        Raises:
            ToolFailure: the path leads out of the workspace, or is no path at all.
        """
        try:
            real = (self.root / self._below(path)).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise ToolFailure(f"{path!r} is not a usable path ({error}); give a path inside the workspace.") from error
        if not real.is_relative_to(self.root):
            raise ToolFailure(f"{path} is outside the workspace {self.shown or self.root}; give a path inside it.")
        return real

    def _below(self, path: str) -> str:
        given = PurePosixPath(path)
        return str(given.relative_to(self.shown)) if self.shown and given.is_relative_to(self.shown) else path

    def name(self, path: Path) -> str:
        """`path` as the model is shown it: relative to the workspace."""
        return str(path.relative_to(self.root))

    def private(self, *parts: str) -> Path:
        """Path of something that the tools keep for themselves; its folder is created.

        Raises:
            ToolFailure: somebody has put a link that leads out of the workspace in its place.
        """
        path = self.resolve(str(Path(PRIVATE_FOLDER, *parts)))
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path


def open_workspace(
    config: RunnableConfig | None, own: Path | None, thread: str, shown: PurePosixPath | None = None
) -> Workspace:
    """Find the run's workspace and create it (mode 0700) where it is missing. Blocking.

    `shown` is where commands see it.

    `own` first, then `configurable.workspace` of the config, then the settings' folder for the thread.

    Raises:
        UsageError: the settings are malformed.
    """
    configured = (config or {}).get("configurable", {}).get("workspace")
    folder = own or (Path(configured) if configured else load_settings().workspace_of(thread))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Workspace(folder.resolve(), shown)
