"""A web server on loopback that gives the answers it was told to and keeps what it was asked."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest


@dataclass
class Answer:
    status: int = 200
    content: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hang: bool = False


@dataclass
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def form(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(self.body.decode()).items()}


class Server:
    """Answers until it is closed; 404 for what it was told nothing about."""

    def __init__(self):
        self.answers: dict[str, Answer] = {}
        self.asked: list[Asked] = []
        self.closing = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Handler,), {"server_of_test": self}))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def give(self, path, content=b"", kind="text/html; charset=utf-8", status=200, *, hang=False, **headers):
        """Answer `path` so, and give its address."""
        data = content if isinstance(content, bytes) else content.encode()
        named = {"Content-Type": kind} if kind else {}
        self.answers[path] = Answer(status, data, {**named, **headers}, hang)
        return self.url + path

    def give_json(self, path, value, status=200):
        return self.give(path, json.dumps(value), "application/json", status)

    def redirect(self, path, target):
        return self.give(path, status=302, Location=target)

    def close(self):
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Handler(BaseHTTPRequestHandler):
    server_of_test: Server

    def answer(self):
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server_of_test.asked.append(Asked(self.command, address.path, query, headers, body))
        answer = self.server_of_test.answers.get(address.path, Answer(404))
        if answer.hang:
            self.server_of_test.closing.wait(60)
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.content)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.content)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass

    def handle(self):
        with suppress(ConnectionError):
            super().handle()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()
