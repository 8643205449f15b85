"""What is configured here, what is missing, and how to mend it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from ..checkpoints.encryption import KEY_VARIABLE
from ..checkpoints.open import is_missing, open_saver, sqlite_path
from ..checkpoints.serializer import protection
from ..checkpoints.threads import thread_registry
from ..graphs.specs import flow_agents
from ..models.load import load_model
from ..state.errors import ClewError
from ..state.settings import Settings
from ..state.settings_layers import SETTINGS_FILE
from ..tools.browser.finding import find_browser
from ..tools.catalog import build_installed, tool_names
from ..tools.extras import installing, is_installed
from ..tools.sandbox.choice import describe_backend
from .readiness import check_condensers


class Finding(NamedTuple):
    """One thing that was looked at."""

    subject: str
    """What it is about."""

    ok: bool
    """Whether a run can go without more; something that only some runs need may be missing."""

    state: str
    """What was found."""

    remedy: str = ""
    """How to mend or better it; empty where there is nothing to do."""


async def diagnose(settings: Settings) -> list[Finding]:
    """Look at everything that a run needs. Nothing is sent anywhere: a key is looked for, not tried."""
    return [
        _python(),
        _settings_file(),
        await asyncio.to_thread(_model, settings),
        *(await asyncio.to_thread(_named, settings)),
        await _database(settings),
        await asyncio.to_thread(_folder, "home", settings.home, "set CLEW_HOME to a folder that you may write to"),
        *([await asyncio.to_thread(_workspace, settings.workspace)] if settings.workspace else []),
        *([await asyncio.to_thread(_log, settings.log)] if settings.log else []),
        await asyncio.to_thread(_tools),
        await _sandbox(settings),
        await asyncio.to_thread(_browser, settings),
        _postgres(),
        _encryption(),
    ]


def _python() -> Finding:
    try:
        found = f"clew {version('clew')} on Python {sys.version.split()[0]}"
    except PackageNotFoundError:
        return Finding("clew", False, "not installed as a package", "pip install -e . in its folder")
    return Finding("clew", True, found)


def _settings_file() -> Finding:
    there = Path(SETTINGS_FILE).is_file()
    return Finding("settings", True, f"{SETTINGS_FILE} in this folder" if there else f"no {SETTINGS_FILE}: defaults")


def _model(settings: Settings) -> Finding:
    name = settings.model or settings.model_settings().model

    def load() -> str:
        load_model(None, settings=settings)
        return str(name)

    return _try("model", load)


def _named(settings: Settings) -> list[Finding]:
    """The agents of plans and the models of condensers, where the settings name some."""

    def condense() -> str:
        check_condensers(settings)
        return ", ".join(condenser.kind for condenser in settings.condense)

    def runflow() -> str:
        return ", ".join(spec.name for spec in flow_agents(settings))

    own = "agents" in settings.runflow.model_fields_set
    return [*([_try("runflow", runflow)] if own else []), *([_try("condense", condense)] if settings.condense else [])]


async def _database(settings: Settings) -> Finding:
    place = settings.database.rpartition("@")[2]
    try:
        if await asyncio.to_thread(is_missing, settings.database):
            return await asyncio.to_thread(_database_to_come, settings)
        async with open_saver(settings.database, patience=settings.db_wait) as saver:
            registry = thread_registry(saver)
            threads, unreadable = await registry.names(), await registry.unreadable()
    except ClewError as error:
        return Finding("database", False, place, str(error))
    remedy = "; ".join(map(str, unreadable))
    return Finding("database", True, f"{place}, {len(threads)} threads", remedy)


def _database_to_come(settings: Settings) -> Finding:
    path = sqlite_path(settings.database)
    found = _folder("database", path.parent, "set CLEW_DB to a file in a folder that you may write to")
    return found._replace(state=f"{path}, which the first run makes")


def _folder(subject: str, folder: Path, remedy: str) -> Finding:
    existing = next(path for path in [folder.absolute(), *folder.absolute().parents] if path.exists())
    writable = existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)
    return Finding(subject, writable, str(folder.absolute()), "" if writable else remedy)


def _workspace(folder: Path) -> Finding:
    return _folder("workspace", folder, "set CLEW_WORKSPACE to a folder that you may write to")


def _log(log: Path) -> Finding:
    return _folder("log", log.parent, "set CLEW_LOG to a file that you may write")._replace(state=str(log.absolute()))


def _tools() -> Finding:
    missing = [name for name in tool_names() if not is_installed(name)]
    found = _try("tools", lambda: ", ".join(tool.name for tool in build_installed(tool_names())))
    remedies = dict.fromkeys(map(installing, missing))
    advice = f"for {', '.join(missing)}: {', '.join(remedies)}" if missing else ""
    return found if found.remedy else found._replace(remedy=advice)


async def _sandbox(settings: Settings) -> Finding:
    try:
        backend = await describe_backend(settings.sandbox)
    except ClewError as error:
        return Finding("sandbox", False, "not usable", str(error))
    return Finding("sandbox", True, backend.description, backend.remedy)


def _browser(settings: Settings) -> Finding:
    if find_spec("playwright") is None:
        return Finding("browser", True, "no playwright", "pip install 'clew[browser]'")
    try:
        found = find_browser(settings.browser)
    except ClewError as error:
        return Finding("browser", True, "no program", str(error))
    return Finding("browser", True, found.location)


def _postgres() -> Finding:
    if find_spec("psycopg") is None or find_spec("langgraph.checkpoint.postgres") is None:
        return Finding("postgres", True, "no driver", "pip install 'clew[postgres]'")
    return Finding("postgres", True, "postgresql:// can be opened")


def _encryption() -> Finding:
    key = os.environ.get(KEY_VARIABLE)
    if not key:
        return Finding("encrypted", True, "no", f"set {KEY_VARIABLE} to encrypt what is stored from then on")

    def look() -> str:
        protection((), key)
        return f"with the key in {KEY_VARIABLE}"

    return _try("encrypted", look)


def _try(subject: str, look: Callable[[], str]) -> Finding:
    try:
        return Finding(subject, True, look())
    except ClewError as error:
        return Finding(subject, False, "not usable", str(error))
