"""What a run needs is looked at before it begins: found missing later, it would end the run in the middle."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..models.load import load_model
from ..state.condensation import Condenser, Summarize
from ..state.errors import UsageError
from ..state.settings import Settings
from ..state.spec import AgentSpec
from ..state.thread import ThreadRecord


def check_run(record: ThreadRecord, settings: Settings) -> None:
    """See that a run on this thread can do its work. Blocking; it imports the packages of the models' providers.

    Raises:
        UsageError: the workspace is no folder, or a model that writes summaries is not to be had.
    """
    check_workspace(Path(record.workspace) if record.workspace else None)
    check_agents(record.agents, settings)


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


def check_agents(agents: Sequence[AgentSpec], settings: Settings) -> None:
    """See that the models are to be had that write summaries of the agents' histories. Blocking.

    Raises:
        UsageError: the name, a file, a key or a package of one is wrong or missing.
    """
    here = [spec for spec in agents if spec.remote is None]
    for spec in here:
        _check_condensers(spec.condensers, f"condenser of the agent {spec.name}", settings)
    if not all(spec.condensers for spec in here):
        check_condensers(settings)


def check_condensers(settings: Settings) -> None:
    """See that the models are to be had that write summaries by the `[[condense]]` tables. Blocking.

    Raises:
        UsageError: the name, a file, a key or a package of one is wrong or missing.
    """
    _check_condensers(settings.condense, "[[condense]] model", settings)


def _check_condensers(condensers: Sequence[Condenser], place: str, settings: Settings) -> None:
    for condenser in condensers:
        if isinstance(condenser, Summarize) and condenser.model:
            try:
                load_model(condenser.model, settings=settings)
            except UsageError as error:
                raise UsageError(f"{place}: {error}") from error
