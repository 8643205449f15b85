"""What tools are given: the tables of the settings that are theirs."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from .browser import BrowserSettings
from .sandbox import SandboxOptions
from .web import FetchSettings, NetworkSettings, SearchSettings


class ToolSettings(BaseModel):
    """The tables of the settings that tools are made from; `Settings` has them all."""

    model_config = ConfigDict(extra="forbid")

    sandbox: SandboxOptions = SandboxOptions()
    """The `[sandbox]` table: where commands run."""

    network: NetworkSettings = NetworkSettings()
    """The `[network]` table: where tools that take an address may connect to."""

    browser: BrowserSettings = BrowserSettings()
    """The `[browser]` table: how a browser is found, started and bounded."""

    search: SearchSettings = SearchSettings()
    """The `[search]` table: which engines search the web."""

    fetch: FetchSettings = FetchSettings()
    """The `[fetch]` table: how pages of the web are read."""
