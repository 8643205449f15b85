"""From a model's name to the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..state.errors import UsageError
from ..state.settings import ModelSettings, Settings, load_settings
from .profile import with_profile

if TYPE_CHECKING:  # the models' package is slow to import, and only a model needs it
    from langchain_core.language_models import BaseChatModel

NO_MODEL = (
    "no model is set: give one, such as --model openai:gpt-5, set CLEW_MODEL, "
    "or write `model` under [llm] in clew.toml."
)


TRAJECTORY = "trajectory:"
"""How the name of a model begins that does again what a trajectory says."""

TAKES_OVER = " then "
"""Stands in that name between the trajectory's file and the name of the model that goes on at its end."""


def load_model(
    name: str | BaseChatModel | None, *, settings: Settings | None = None, record: Path | None = None
) -> BaseChatModel:
    """Make a chat model.

    Imports the provider's package and reads files, so it blocks for up to some seconds; on an event loop call it with
    `asyncio.to_thread`.

    Args:
        name: `openai:NAME`, `script:FILE`, `replay:FILE`, `trajectory:FILE then NAME`, the NAME of a table
            `[llm.NAME]`, or `PROVIDER:NAME` of a provider that LangChain knows; None for the model of the settings;
            a model is taken as it is.
        settings: where tables, keys and defaults come from; None reads them.
        record: file to which every call is appended, for `replay:FILE`.

    Raises:
        UsageError: no model is set, or the name, a file, a key or a package is wrong or missing.
    """
    model = _named(name, settings or load_settings()) if name is None or isinstance(name, str) else name
    if record is None:
        return model
    from .recorded import RecordingModel

    return RecordingModel(model=model, path=record)


def model_settings(name: str | None, settings: Settings) -> ModelSettings:
    """The settings by which `load_model` makes the model of this name: the table it names over `[llm]`."""
    shared = settings.model_settings()
    chosen = name or settings.model or shared.model
    return settings.model_settings(chosen) if chosen and _is_table(chosen, settings) else shared


def _named(name: str | None, settings: Settings) -> BaseChatModel:
    chosen, own = name or settings.model, model_settings(name, settings)
    if chosen and chosen.startswith(TRAJECTORY):
        return _of_trajectory(chosen.removeprefix(TRAJECTORY), settings)
    in_table = chosen is None or _is_table(chosen, settings)
    full_name = own.model if in_table else chosen
    if not full_name:
        raise UsageError(f"[llm.{chosen}] in clew.toml names no model: add `model` to it." if chosen else NO_MODEL)
    provider, colon, rest = full_name.partition(":")
    if colon:
        return _of_provider(provider, rest, own)
    if in_table:
        # A table has the server's address, so the bare name is one that the server knows.
        return _of_provider("openai", full_name, own)
    raise UsageError(f"no model is called {chosen!r}: write openai:{chosen}, or add a table [llm.{chosen}].")


def _of_provider(provider: str, name: str, settings: ModelSettings) -> BaseChatModel:
    # Each import waits until its model is asked for: together they take seconds.
    if provider == "openai":
        from .openai import openai_model

        return openai_model(name, settings)
    if provider == "script":
        from .scripted import ScriptedModel

        return with_profile(ScriptedModel.from_file(name), settings)
    if provider == "replay":
        from .recorded import ReplayModel

        return with_profile(ReplayModel.from_file(name), settings)
    from .langchain import langchain_model

    return langchain_model(provider, name, settings)


def _of_trajectory(name: str, settings: Settings) -> BaseChatModel:
    from .trajectory import TrajectoryModel

    file, _, following = name.partition(TAKES_OVER)
    return TrajectoryModel.from_file(Path(file), lambda: load_model(following or None, settings=settings))


def _is_table(name: str, settings: Settings) -> bool:
    return isinstance(settings.llm.get(name), dict)
