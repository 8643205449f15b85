"""A loopback chat-completions server as strict as OpenAI's, with OpenAI's own error bodies.

::

    with StrictOpenAI(lambda request, n: {"tool_calls": [{"name": "bash", "args": {"command": "ls"}}]}) as server:
        model = ChatOpenAI(model="gpt-5", base_url=server.base_url, api_key="key")

It runs in threads of its own, so sync and async tests and other processes can use it; `async with` works too.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from openai_rules import Json, Refused, check_request, count_tokens


@dataclass(frozen=True)
class Fault:
    """A failure on demand: returned by `reply` or queued in `faults`."""

    kind: Literal["status", "hang", "cut", "end", "error", "reset"] = "status"
    """An HTTP error; no answer at all; a stream that breaks, ends early in good order, or reports an error in the
    middle; a reset connection."""

    status: int = 500
    message: str = "The server had an error while processing your request."
    type: str = "server_error"
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


Reply = str | Json | Fault
"""Text, or `content`, `tool_calls` (`name`, `args` as an object or raw text, `id`), `finish_reason`, `usage`."""


def say_ok(request: Json, n: int) -> Reply:
    return "ok"


class StrictOpenAI:
    """`reply(request, n)` answers the n-th request that passed the rules; `n` counts from 0."""

    def __init__(
        self,
        reply: Callable[[Json, int], Reply] = say_ok,
        *,
        context_length: int | None = None,
        api_key: str | None = None,
        chunk_size: int = 12,
    ) -> None:
        self.reply = reply
        self.context_length = context_length
        self.api_key = api_key
        self.chunk_size = chunk_size
        self.faults: deque[Fault] = deque()
        """Answer the next requests, one each, before any rule is looked at."""
        self.requests: list[Json] = []
        """Every request that came, refused ones too."""
        self.accepted: list[Json] = []
        """Requests that passed the rules."""
        self.refusals: list[str] = []
        """Messages of the refusals."""
        self.arrived = threading.Event()
        """Set when the first request has come."""
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = False
        self._server.block_on_close = True
        self._connections: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        for connection in list(self._connections):
            _shut(connection)
        self._server.server_close()

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def answer(self, request: Json, authorization: str) -> tuple[Reply, int]:
        """What to answer, and the request's number; raises `Refused` for a request that breaks a rule."""
        with self._lock:
            self.requests.append(request)
            self.arrived.set()
            if self.faults:
                return self.faults.popleft(), 0
            try:
                self._check_key(authorization)
                check_request(request)
                self._check_length(request)
            except Refused as refusal:
                self.refusals.append(str(refusal))
                raise
            n = len(self.accepted)
            self.accepted.append(request)
        return self.reply(request, n), n

    def usage(self, request: Json, reply: Json) -> Json:
        """Tokens by length; those that the request before began with count as cached."""
        place = next(n for n, each in enumerate(self.accepted) if each is request)
        before = self.accepted[place - 1]["messages"] if place else []
        same = 0
        for mine, theirs in zip(request["messages"], before, strict=False):
            if mine != theirs:
                break
            same += count_tokens(mine)
        sent, received = count_tokens(request["messages"], request.get("tools", [])), count_tokens(reply)
        return {
            "prompt_tokens": sent,
            "completion_tokens": received,
            "total_tokens": sent + received,
            "prompt_tokens_details": {"cached_tokens": min(same, sent), "audio_tokens": 0},
        }

    def _check_key(self, authorization: str) -> None:
        if not authorization.startswith("Bearer "):
            raise Refused("You didn't provide an API key.", status=401)
        key = authorization.removeprefix("Bearer ")
        if self.api_key is not None and key != self.api_key:
            raise Refused(f"Incorrect API key provided: {key}.", code="invalid_api_key", status=401)

    def _check_length(self, request: Json) -> None:
        used = count_tokens(request["messages"], request.get("tools", []))
        if self.context_length is not None and used > self.context_length:
            raise Refused(
                f"This model's maximum context length is {self.context_length} tokens. However, your messages resulted "
                f"in {used} tokens. Please reduce the length of the messages.",
                "messages",
                "context_length_exceeded",
            )


def completion(reply: str | Json, n: int) -> Json:
    """The assistant message of a reply, in OpenAI's form, with `finish_reason` beside it."""
    said = {"content": reply} if isinstance(reply, str) else reply
    calls = [
        {
            "id": call.get("id", f"call_{n}_{place}"),
            "type": "function",
            "function": {"name": call["name"], "arguments": _arguments(call.get("args", {}))},
        }
        for place, call in enumerate(said.get("tool_calls", []))
    ]
    message: Json = {"role": "assistant", "content": said.get("content") or (None if calls else ""), "refusal": None}
    if calls:
        message["tool_calls"] = calls
    return {"message": message, "finish_reason": said.get("finish_reason", "tool_calls" if calls else "stop")}


def _arguments(args: Any) -> str:
    return args if isinstance(args, str) else json.dumps(args)


def deltas(message: Json, size: int) -> Iterator[Json]:
    """The message in pieces, as a stream sends it."""
    yield {"role": "assistant", "content": "", "refusal": None}
    text = message["content"] or ""
    for start in range(0, len(text), size):
        yield {"content": text[start : start + size]}
    for index, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        yield {"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]}
        for start in range(0, len(function["arguments"]), size):
            piece = function["arguments"][start : start + size]
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _shut(connection: socket.socket) -> None:
    # The client may have been faster.
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _handler(server: StrictOpenAI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            server._connections.add(self.connection)

        def finish(self) -> None:
            server._connections.discard(self.connection)
            super().finish()

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:
                self.close_connection = True  # the client hung up, as a test of timeouts does

        def end_headers(self) -> None:
            # Clients pool connections beyond the life of a test's event loop, which then leaks them.
            self.send_header("Connection", "close")
            super().end_headers()

        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.split("?")[0].endswith("/chat/completions"):
                return self.send_json(404, Refused(f"Invalid URL (POST {self.path})", status=404).body)
            try:
                reply, n = server.answer(request, self.headers.get("Authorization", ""))
            except Refused as refusal:
                return self.send_json(refusal.status, refusal.body)
            if isinstance(reply, Fault) and reply.kind in {"status", "hang", "reset"}:
                return self.fail(reply)
            send = self.stream if request.get("stream") else self.send_whole
            return send(request, reply, n)

        def send_whole(self, request: Json, reply: Reply, n: int) -> None:
            if isinstance(reply, Fault):
                return self.break_off(b'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"id": "chatcmpl-1", "choi')
            choice = {"index": 0, "logprobs": None, **completion(reply, n)}
            usage = reply_usage(request, reply, choice["message"])
            head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": request["model"]}
            return self.send_json(200, {**head, "choices": [choice], "usage": usage})

        def stream(self, request: Json, reply: Reply, n: int) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            said = "This is the beginning of a reply that" if isinstance(reply, Fault) else reply
            whole = completion(said, n)
            for delta in deltas(whole["message"], server.chunk_size):
                self.send_event(request, [{"index": 0, "delta": delta, "finish_reason": None}])
            if isinstance(reply, Fault):
                return self.fail_stream(reply)
            self.send_event(request, [{"index": 0, "delta": {}, "finish_reason": whole["finish_reason"]}])
            if (request.get("stream_options") or {}).get("include_usage"):
                self.send_event(request, [], reply_usage(request, reply, whole["message"]))
            self.send_chunk(b"data: [DONE]\n\n")
            return self.send_chunk(b"")

        def fail_stream(self, fault: Fault) -> None:
            if fault.kind == "cut":
                return self.break_off(b"")
            if fault.kind == "error":
                body = {"error": {"message": fault.message, "type": fault.type, "code": fault.code}}
                self.send_chunk(f"data: {json.dumps(body)}\n\n".encode())
            return self.send_chunk(b"")

        def fail(self, fault: Fault) -> None:
            if fault.kind == "hang":
                server.released.wait()
                return self.break_off(b"")
            if fault.kind == "reset":
                # A linger time of 0 makes close() send RST.
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.close_connection = True
                return os.close(self.connection.detach())
            body = {"message": fault.message, "type": fault.type, "param": None, "code": fault.code}
            return self.send_json(fault.status, {"error": body}, fault.headers)

        def break_off(self, data: bytes) -> None:
            self.wfile.write(data)
            self.wfile.flush()
            self.close_connection = True
            _shut(self.connection)

        def send_event(self, request: Json, choices: list[Json], usage: Json | None = None) -> None:
            head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": request["model"]}
            self.send_chunk(f"data: {json.dumps({**head, 'choices': choices, 'usage': usage})}\n\n".encode())

        def send_chunk(self, data: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

        def send_json(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    def reply_usage(request: Json, reply: str | Json, message: Json) -> Json:
        given = reply.get("usage") if isinstance(reply, dict) else None
        return given or server.usage(request, message)

    return Handler
