"""Tools and agents of other packages, by their entry points.

A package that is installed beside clew names them in its `pyproject.toml`::

    [project.entry-points."clew.tools"]
    weather = "my_package.weather:Weather"

    [project.entry-points."clew.agents"]
    forecaster = "my_package.agents:FORECASTER"

Nothing of a plug-in is imported before it is asked for by name or listed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from typing import TypeVar

from ..state.errors import UsageError

LOGGER = "clew.plugins"

PluginT = TypeVar("PluginT")


def load_plugin(group: str, name: str, accept: Callable[[object], PluginT]) -> PluginT | None:
    """Load one plug-in; None where no package offers one of that name.

    Args:
        group: Entry point group.
        name: Name of the entry point.
        accept: Returns what the entry point names if it is of the right kind, else raises TypeError with a sentence.

    Raises:
        UsageError: it is broken, or several packages offer it.
    """
    offers = [entry for entry in entry_points(group=group) if entry.name == name]
    if not offers:
        return None
    if len(offers) > 1:
        packages = " and ".join(sorted(map(_package, offers)))
        raise UsageError(f"The plug-in {name!r} is offered by {packages}; uninstall all but one of them.")
    start, advice = f"The plug-in {name!r} of {_package(offers[0])} is broken", "update or uninstall the package"
    with foreign_code(lambda what: UsageError(f"{start}, {what}; {advice}.")):
        return accept(offers[0].load())


@contextmanager
def foreign_code(raised: Callable[[str], Exception]) -> Iterator[None]:
    """Raise what `raised` makes, of the type and first line, where code of another package raises."""
    try:
        yield
    except Exception as error:  # a package of somebody else's may raise anything
        raise raised(f"{type(error).__name__}: {error}".splitlines()[0]) from error


def load_plugins(
    group: str, accept: Callable[[object], PluginT], built_in: Collection[str]
) -> tuple[dict[str, PluginT], list[str]]:
    """Load all plug-ins of a group by name, and a sentence for each that is refused.

    Refused is what is broken, what has a name in `built_in`, and what several packages offer under one name.
    """
    loaded: dict[str, PluginT] = {}
    problems = []
    for name, entry in sorted((entry.name, entry) for entry in entry_points(group=group)):
        if name in built_in:
            problems.append(f"The plug-in {name!r} of {_package(entry)} has the name of a built-in; rename it.")
            continue
        try:
            plugin = load_plugin(group, name, accept)
        except UsageError as error:
            problems.append(str(error))
        else:
            loaded |= {} if plugin is None else {name: plugin}
    return loaded, list(dict.fromkeys(problems))


def list_plugins(group: str, accept: Callable[[object], PluginT], built_in: Collection[str]) -> dict[str, PluginT]:
    """Load all plug-ins of a group by name; each that is refused is logged in one line."""
    loaded, problems = load_plugins(group, accept, built_in)
    for problem in problems:
        logging.getLogger(LOGGER).warning(problem)
    return loaded


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value
