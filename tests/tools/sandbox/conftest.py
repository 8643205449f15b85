"""A daemon that speaks the part of Docker's API that is used, on a Unix socket, and runs commands in bubblewrap."""

import json
import os
import re
import signal
import socketserver
import subprocess
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path

import pytest

from clew.tools.sandbox.bubblewrap import system_mounts

VERSION = {"ApiVersion": "1.47", "Version": "27.0", "MinAPIVersion": "1.24"}


class DockerDaemon(socketserver.ThreadingUnixStreamServer):
    """Images, containers and executions. A container is a name and a configuration; only executions are processes."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), DockerHandler)
        self.images = set()
        self.pullable = {"python:3.12-slim"}
        self.containers = {}
        self.executions = {}
        self.requests = []
        self.numbers = count(1)

    def command(self, execution: dict) -> list[str]:
        """The command line of an execution: the container's mounts, its environment, no namespace of processes."""
        container = self.containers[execution["container"]]
        mounts = container["HostConfig"]["Mounts"]
        bound = [
            part
            for mount in mounts
            for part in ("--ro-bind" if mount.get("ReadOnly") else "--bind", mount["Source"], mount["Target"])
        ]
        variables = [part for line in execution.get("Env") or [] for part in ("--setenv", *line.split("=", 1))]
        place = execution.get("WorkingDir") or container["WorkingDir"]
        system = [*system_mounts(), "--ro-bind", "/proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
        clean = ["--clearenv", "--setenv", "PATH", os.environ["PATH"]]
        return ["bwrap", *system, *bound, *clean, *variables, "--chdir", place, *execution["Cmd"]]

    def kill(self, container: str) -> None:
        """End the processes of a container."""
        for execution in self.executions.values():
            process = execution.get("process")
            if execution["container"] == container and process is not None and process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


class DockerHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def address_string(self):
        return "local"

    def answer(self, status, body=None):
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_request(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or b"{}") if size else {}
        path, _, query = re.sub(r"^/v[\d.]+", "", self.path).partition("?")
        self.server.requests.append((self.command, path, body))
        for method, pattern, serve in ROUTES:
            if method == self.command and (match := re.fullmatch(pattern, path)):
                return serve(self, *match.groups(), query=query, body=body)
        return self.answer(404, {"message": f"page not found: {self.command} {path}"})

    do_GET = do_POST = do_DELETE = do_request

    def version(self, query, body):
        self.answer(200, VERSION)

    def image(self, name, query, body):
        there = name in self.server.images
        self.answer(*((200, {"Id": name}) if there else (404, {"message": f"No such image: {name}"})))

    def pull(self, query, body):
        name = re.sub(r".*fromImage=([^&]*).*", r"\1", query) + ":" + re.sub(r".*tag=([^&]*).*", r"\1", query)
        if name not in self.server.pullable:
            return self.answer(404, {"message": f"pull access denied for {name}"})
        self.server.images.add(name)
        return self.answer(200, {"status": "done"})

    def create(self, query, body):
        if body["Image"] not in self.server.images:
            return self.answer(404, {"message": f"No such image: {body['Image']}"})
        name = re.sub(r".*name=([^&]*).*", r"\1", query)
        self.server.containers[name] = body
        return self.answer(201, {"Id": name, "Warnings": []})

    def container(self, name, query, body):
        there = name in self.server.containers
        missing = (404, {"message": f"No such container: {name}"})
        self.answer(*((200, {"Id": name, "Name": f"/{name}"}) if there else missing))

    def start(self, name, query, body):
        self.answer(204)

    def restart(self, name, query, body):
        self.server.kill(name)
        self.answer(204)

    def remove(self, name, query, body):
        self.server.kill(name)
        there = self.server.containers.pop(name, None)
        self.answer(*((204,) if there else (404, {"message": f"No such container: {name}"})))

    def execution(self, name, query, body):
        if name not in self.server.containers:
            return self.answer(404, {"message": f"No such container: {name}"})
        number = str(next(self.server.numbers))
        self.server.executions[number] = {**body, "container": name}
        return self.answer(201, {"Id": number})

    def inspect(self, number, query, body):
        execution = self.server.executions[number]
        if execution["container"] not in self.server.containers:
            return self.answer(404, {"message": f"No such exec instance: {number}"})
        code = execution["process"].poll()
        return self.answer(
            200, {"Running": code is None, "ExitCode": code if code is None or code >= 0 else 128 - code}
        )

    def execute(self, number, query, body):
        """Hand the connection over to the command: input as it is, output in frames."""
        execution = self.server.executions[number]
        if execution["container"] not in self.server.containers:
            return self.answer(404, {"message": f"No such exec instance: {number}"})
        command = self.server.command(execution)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        with subprocess.Popen(command, start_new_session=True, **pipes) as process:
            execution["process"] = process
            self.wfile.write(b"HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
            feeding = threading.Thread(target=self.feed, args=[process])
            feeding.start()
            while chunk := process.stdout.read1(2**15):
                with suppress(OSError):
                    self.wfile.write(b"\1\0\0\0" + len(chunk).to_bytes(4, "big") + chunk)
            process.wait()
            self.connection.shutdown(2)
            feeding.join()
        self.close_connection = True
        return None

    def feed(self, process):
        with suppress(OSError):
            while chunk := self.rfile.read1(2**15):
                process.stdin.write(chunk)
                process.stdin.flush()
        with suppress(OSError):
            process.stdin.close()


ROUTES = [
    ("GET", "/version", DockerHandler.version),
    ("GET", "/images/(.+)/json", DockerHandler.image),
    ("POST", "/images/create", DockerHandler.pull),
    ("POST", "/containers/create", DockerHandler.create),
    ("GET", "/containers/([^/]+)/json", DockerHandler.container),
    ("POST", "/containers/([^/]+)/start", DockerHandler.start),
    ("POST", "/containers/([^/]+)/restart", DockerHandler.restart),
    ("DELETE", "/containers/([^/]+)", DockerHandler.remove),
    ("POST", "/containers/([^/]+)/exec", DockerHandler.execution),
    ("POST", "/exec/([^/]+)/start", DockerHandler.execute),
    ("GET", "/exec/([^/]+)/json", DockerHandler.inspect),
]


@pytest.fixture
def docker_daemon(tmp_path, monkeypatch):
    """A daemon that `DOCKER_HOST` names."""
    path = tmp_path / "docker.sock"
    with DockerDaemon(path) as daemon:
        thread = threading.Thread(target=daemon.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        yield daemon
        daemon.shutdown()
        thread.join()
