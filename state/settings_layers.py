"""Settings from their layers: flags over `CLEW_*` environment over `clew.toml` over defaults."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

SETTINGS_FILE = "clew.toml"

PREFIX = "CLEW_"
"""What the names of variables begin with that are settings."""

NESTED = "__"
"""Stands in them between the name of a table and what is in it."""

Layered = TypeVar("Layered", bound=BaseModel)


@cache
def layered(settings: type[Layered]) -> type[Layered]:
    """A subclass of these settings whose instances take what they are not given from the environment and the file.

    It is made when it is first asked for: pydantic-settings is slow to import, and not every run needs it.
    """
    from pydantic_settings import (
        BaseSettings,
        PydanticBaseSettingsSource,
        SettingsConfigDict,
        TomlConfigSettingsSource,
    )

    class LayeredSettings(settings, BaseSettings):  # type: ignore[misc, valid-type]
        """The settings, read from their layers."""

        model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter=NESTED, extra="forbid")

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            """Flags, then the environment, then the file in the current folder."""
            return init_settings, env_settings, TomlConfigSettingsSource(settings_cls, Path(SETTINGS_FILE))

    return LayeredSettings
