"""What tools are given: the tables of the settings that are theirs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from .browser import BrowserSettings
from .sandbox import SandboxOptions
from .web import FetchSettings, NetworkSettings, SearchSettings


class PythonSettings(BaseModel):
    """How Python code is run: the `[python]` table."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    preload: tuple[str, ...] = ()
    """Modules that are imported beforehand, once for all calls of a run, so that code need not wait for them."""


class ToolSettings(BaseModel):
    """The tables of the settings that tools are made from; `Settings` has them all."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    sandbox: SandboxOptions = Field(default_factory=SandboxOptions)
    """The `[sandbox]` table: where commands run."""

    python: PythonSettings = PythonSettings()
    """The `[python]` table: how Python code is run."""

    network: NetworkSettings = Field(default_factory=NetworkSettings)
    """The `[network]` table: where tools that take an address may connect to."""

    browser: BrowserSettings = Field(default_factory=BrowserSettings)
    """The `[browser]` table: how a browser is found, started and bounded."""

    search: SearchSettings = Field(default_factory=SearchSettings)
    """The `[search]` table: which engines search the web."""

    fetch: FetchSettings = Field(default_factory=FetchSettings)
    """The `[fetch]` table: how pages of the web are read."""
