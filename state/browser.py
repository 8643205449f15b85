"""How a browser is found, started and bounded: the `[browser]` table."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat, PositiveInt, SecretStr


class Viewport(BaseModel):
    """Size of the page area in CSS pixels."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    width: PositiveInt = 1280
    """CSS pixels."""

    height: PositiveInt = 900
    """CSS pixels."""


class Proxy(BaseModel):
    """A proxy between the browser and the network. It then resolves names, so addresses cannot be checked here."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    server: str
    """Such as `http://proxy.example:3128` or `socks5://proxy.example:1080`."""

    username: str | None = None
    """User name that the proxy asks for."""

    password: SecretStr | None = None
    """Password that the proxy asks for."""


class Credential(BaseModel):
    """One secret and the sites that may have it."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    value: SecretStr
    """What is typed."""

    domains: tuple[str, ...] = Field(min_length=1)
    """Hosts whose pages it may be typed into, subdomains included."""


class BrowserSettings(BaseModel):
    """Settings of the browser tool."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    executable: Path | None = None
    """Program to start; None looks for one."""

    cdp_url: str | None = None
    """Address of a running Chromium's DevTools, such as `http://localhost:9222`."""

    wss_url: str | None = None
    """WebSocket address of a Playwright server, such as `ws://host:3000/`."""

    join: bool = False
    """With `cdp_url`: work in the remote browser's own profile and tabs instead of a fresh, private context."""

    headless: bool = True
    """Without a window."""

    profile: Path | None = None
    """Folder of a persistent profile; None for a fresh one each time."""

    viewport: Viewport = Field(default_factory=Viewport)
    """Size of the page."""

    arguments: tuple[str, ...] = ()
    """Further arguments of the program."""

    proxy: Proxy | None = None
    """Proxy between the browser and the network."""

    allowed_domains: tuple[str, ...] = ()
    """Hosts that may be reached, subdomains included; empty for all."""

    denied_domains: tuple[str, ...] = ()
    """Hosts that may not be reached, subdomains included; stronger than `allowed_domains`."""

    credentials: dict[str, Credential] = Field(default_factory=dict)
    """Secrets that are typed into pages, by the name that the model asks for them by; it never sees their values."""

    ignore_certificate_errors: bool = False
    """Load pages whose certificate is not trusted."""

    dialogs: Literal["accept", "dismiss"] = "accept"
    """How alert, confirm and prompt dialogs are answered; the model is told of each."""

    screenshots: bool = True
    """Keep a picture of the page after each action in the workspace, for people to look at."""

    labels: bool = True
    """Draw the elements' indices on the pictures that a model which sees is sent."""

    trace: bool = False
    """Record Playwright traces into the workspace. They hold all that is seen, sent and typed, secrets too."""

    margin: NonNegativeInt | None = 500
    """CSS pixels above and below the viewport that the state of a page covers; None for the whole page."""

    state_tokens: PositiveInt = 8000
    """Tokens, by estimate, that the state of a page may have."""

    settle_seconds: PositiveFloat = 1.5
    """Bound of the wait for a page to come to rest."""

    action_seconds: PositiveFloat = 3.0
    """Bound of one click, hover or text entry."""

    navigation_seconds: PositiveFloat = 30.0
    """Bound of a page load."""

    download_seconds: PositiveFloat = 20.0
    """Bound of the wait for a download; a longer one goes on and is told of later."""

    max_content_length: PositiveInt = Field(default=40_000, ge=1000)
    """Characters of a page that one request of `extract_content` carries; longer pages go in chunks."""

    max_content_chunks: PositiveInt = 8
    """Chunks that `extract_content` reads at most."""
