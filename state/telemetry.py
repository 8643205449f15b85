"""Settings of telemetry: the `[telemetry]` table."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class TelemetrySettings(BaseModel):
    """Whether runs are told of as OpenTelemetry spans, and where. Off unless it is switched on here."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    enabled: bool = False
    """Whether spans are sent."""

    endpoint: str | None = None
    """Address of the collector, OTLP over HTTP; None for `OTEL_EXPORTER_OTLP_ENDPOINT`, or this machine's."""

    content: bool = False
    """Whether what is said, asked of tools and answered by them is sent too, without secrets."""
