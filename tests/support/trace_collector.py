"""A loopback collector of OpenTelemetry traces, OTLP over HTTP."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class TraceCollector(ThreadingHTTPServer):
    """Keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.received: list[tuple[str, bytes]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for _, body in self.received]

    @property
    def span_names(self) -> list[str]:
        resources = [each for request in self.requests for each in request.resource_spans]
        return [span.name for each in resources for scope in each.scope_spans for span in scope.spans]


class _Handler(BaseHTTPRequestHandler):
    server: TraceCollector

    def do_POST(self) -> None:
        self.server.received.append((self.path, self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def trace_collector() -> Iterator[TraceCollector]:
    """A collector that runs meanwhile."""
    server = TraceCollector()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
