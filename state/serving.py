"""How clew is served to others: the `[serve]` table."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, PositiveInt, SecretStr


class ServeSettings(BaseModel):
    """Who may call a server of clew, and how much they may send."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    keys: dict[str, SecretStr] = Field(default_factory=dict)
    """Key of each caller, by the caller's name; callers see only what is their own. Empty lets everybody on this
    machine in, and nobody else."""

    allowed_hosts: list[str] = Field(default_factory=list)
    """Names in the Host header beside those of the address that is served; for a server behind a proxy."""

    allowed_origins: list[str] = Field(default_factory=list)
    """Origins of web pages that may call, such as `https://example.com`; pages of the server itself always may."""

    max_body_bytes: PositiveInt = 4 * 1024 * 1024
    """Bytes of the longest request."""

    push_hosts: list[str] = Field(default_factory=list)
    """Hosts in private networks that push notifications may go to."""
