"""A web site on loopback for the browser's tests: pages given as HTML, files of a folder, and answers of every kind."""

from __future__ import annotations

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

PDF = b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF\n"


class Site:
    """Serves until it is closed. `127.0.0.1` and `localhost` are two origins of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.visits: list[str] = []
        """Paths asked for, in order."""

        self.cookies: list[str] = []
        """Cookies that came with each request, in order."""

        self.received: list[bytes] = []
        """Bodies that were posted, in order."""

        self.closing = Event()
        self._pages: dict[str, str] = {}
        self._numbers = count()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"site": self}))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Address of a path."""
        return f"http://{host}:{self._server.server_port}{path}"

    def page(self, body: str, *, title: str = "Page", host: str = "127.0.0.1") -> str:
        """Address of a page of its own with that body."""
        path = f"/made/{next(self._numbers)}.html"
        self._pages[path] = f"<!doctype html><html><head><title>{title}</title></head><body>{body}</body></html>"
        return self.url(path, host)

    def content(self, path: str) -> bytes | None:
        """What a path holds."""
        if path in self._pages:
            return self._pages[path].encode()
        file = self.folder / path.removeprefix("/")
        return file.read_bytes() if file.is_file() else None

    def close(self) -> None:
        """Stop serving."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    """Answers one request: `/status/418`, `/redirect?to=`, `/slow?seconds=`, `/hang`, `/file/name`, `/pdf`, pages."""

    site: Site
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        self.site.visits.append(address.path)
        self.site.cookies.append(self.headers.get("Cookie", ""))
        kind, _, rest = address.path.strip("/").partition("/")
        answer = getattr(self, f"answer_{kind}", None)
        if answer:
            answer(rest, query)
        elif (content := self.site.content(address.path)) is not None:
            self.send(200, content)
        else:
            self.send(404, b"<title>Missing</title><h1>There is no such page</h1>")

    def do_POST(self) -> None:
        received = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.site.visits.append(self.path)
        self.site.received.append(received)
        self.send(200, b"<title>Received</title><pre>" + received.replace(b"<", b"&lt;") + b"</pre>")

    def answer_status(self, rest: str, query: dict[str, str]) -> None:
        self.send(int(rest), b"<title>Status</title><h1>Something went wrong</h1>")

    def answer_redirect(self, rest: str, query: dict[str, str]) -> None:
        self.send(302, b"", Location=query["to"])

    def answer_slow(self, rest: str, query: dict[str, str]) -> None:
        self.site.closing.wait(float(query["seconds"]))
        self.send(200, query.get("body", "late").encode())

    def answer_hang(self, rest: str, query: dict[str, str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"<title>Half</title><h1>The first half</h1>" + b" " * 4096)
        self.wfile.flush()
        self.site.closing.wait(60)
        self.close_connection = True

    def answer_file(self, rest: str, query: dict[str, str]) -> None:
        time.sleep(float(query.get("seconds", "0")))
        disposition = f'attachment; filename="{query.get("name", rest)}"'
        self.send(200, b"a,b\n1,2\n", "text/csv", **{"Content-Disposition": disposition})

    def answer_pdf(self, rest: str, query: dict[str, str]) -> None:
        self.send(200, PDF, "application/pdf")

    def send(self, status: int, content: bytes, kind: str = "text/html; charset=utf-8", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            # The browser hung up.
            self.close_connection = True
