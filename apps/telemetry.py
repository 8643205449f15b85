"""Switching OpenTelemetry on for the runs of a session, by the settings alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from langchain_core.callbacks import BaseCallbackHandler

from ..state.errors import UsageError
from ..state.settings import Settings
from .log import redactor, secret_values

if TYPE_CHECKING:  # the packages of an extra
    from opentelemetry.sdk.trace import TracerProvider

SERVICE = "clew"
"""Name of the service that the spans are from, where `OTEL_SERVICE_NAME` gives none."""

TRACES = "/v1/traces"
"""Path of a collector that takes traces, after the address of the settings."""

SECONDS = 3.0
"""Time that a batch of spans has to be taken, tries included: a collector that is gone holds no command up for long."""

TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
"""Variables that say another time."""


@asynccontextmanager
async def telemetry(settings: Settings) -> AsyncIterator[list[BaseCallbackHandler]]:
    """The callbacks that send spans of runs; none unless the settings switch them on. At the end all are sent.

    Raises:
        UsageError: the packages are not installed.
    """
    if not settings.telemetry.enabled:
        yield []
        return
    try:
        # The packages of an extra, which take a while to import.
        from .spans import SpanHandler

        provider = await asyncio.to_thread(_provider, settings)
    except ModuleNotFoundError as error:
        advice = "install it with pip install 'clew[telemetry]', or switch [telemetry] off"
        raise UsageError(f"telemetry needs the package {error.name!r}: {advice}") from error
    redact = redactor(secret_values(settings, os.environ))
    handler = SpanHandler(provider.get_tracer(SERVICE), content=settings.telemetry.content, redact=redact)
    try:
        yield [handler]
    finally:
        handler.close()
        await asyncio.to_thread(provider.shutdown)


def _provider(settings: Settings) -> TracerProvider:
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    endpoint = settings.telemetry.endpoint
    seconds = None if any(name in os.environ for name in TIMEOUTS) else SECONDS
    exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}{TRACES}" if endpoint else None, timeout=seconds)
    service = {"service.name": os.environ.get("OTEL_SERVICE_NAME", SERVICE)}
    provider = TracerProvider(resource=Resource.create(service))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
