"""A server that speaks the part of Daytona's API that is used, and runs commands in bubblewrap."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

from aiohttp import MultipartWriter, WSMsgType, web

from clew.tools.sandbox.bubblewrap import system_mounts

KEY = "key-of-daytona"

NOW = "2026-01-01T00:00:00Z"


class DaytonaServer:
    """Machines by id. A machine is a folder with /workspace and /tmp; only its commands are processes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machines = {}
        self.requests = []
        self.processes = {}
        self.fails = ""
        self.application = web.Application(client_max_size=2**30, middlewares=[self.check])
        toolbox = "/toolbox/{machine}"
        self.application.add_routes(
            [
                web.post("/api/sandbox", self.create),
                web.get("/api/sandbox/{machine}", self.get),
                web.post("/api/sandbox/{machine}/start", self.start),
                web.post("/api/sandbox/{machine}/stop", self.stop),
                web.post(f"{toolbox}/process/execute", self.execute),
                web.get(f"{toolbox}/process/pty/create-connect", self.terminal),
                web.delete(f"{toolbox}/process/pty/{{session}}", self.kill_terminal),
                web.post(f"{toolbox}/files/bulk-upload", self.upload),
                web.post(f"{toolbox}/files/bulk-download", self.download),
            ]
        )

    @web.middleware
    async def check(self, request, handler):
        self.requests.append((request.method, request.path))
        if self.fails and self.fails in request.path:
            return web.json_response({"statusCode": 503, "message": "no runner is free"}, status=503)
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"statusCode": 401, "message": "Invalid credentials"}, status=401)
        return await handler(request)

    async def create(self, request):
        body = await request.json()
        machine = f"machine-{uuid4().hex}"
        for name in ("workspace", "tmp"):
            (self.folder / machine / name).mkdir(parents=True)
        size = {name: body.get(name, 1) for name in ("cpu", "memory", "disk")}
        self.machines[machine] = {
            **{
                "organizationId": "o",
                "user": "root",
                "env": {},
                "public": False,
                "kvm": False,
                "target": "eu",
                "gpu": 0,
            },
            **size,
            **{"id": machine, "name": body["name"], "labels": body["labels"], "state": "started"},
            **{"networkBlockAll": body["networkBlockAll"], "autoStopInterval": body["autoStopInterval"]},
            "buildInfo": {**body["buildInfo"], "snapshotRef": "", "createdAt": NOW, "updatedAt": NOW},
            "toolboxProxyUrl": f"{request.url.origin()}/toolbox",
        }
        return web.json_response(self.machines[machine])

    def find(self, request):
        wanted = request.match_info["machine"]
        for machine in self.machines.values():
            if wanted in (machine["id"], machine["name"]):
                return machine
        raise web.HTTPNotFound(
            text=json.dumps({"statusCode": 404, "message": f"Sandbox {wanted} not found"}),
            content_type="application/json",
        )

    async def get(self, request):
        return web.json_response(self.find(request))

    async def start(self, request):
        machine = self.find(request)
        machine["state"] = "started"
        return web.json_response(machine)

    async def stop(self, request):
        machine = self.find(request)
        machine["state"] = "stopped"
        for session in list(self.processes):
            self.kill(session)
        return web.json_response(machine)

    def command(self, machine, folder, *command):
        place = self.folder / machine
        bound = [part for name in ("workspace", "tmp") for part in ("--bind", str(place / name), f"/{name}")]
        system = [*system_mounts(), "--ro-bind", "/proc", "/proc", "--dev", "/dev", *bound]
        variables = ["--clearenv", "--setenv", "PATH", os.environ["PATH"], "--setenv", "HOME", "/tmp"]
        return ["bwrap", *system, *variables, "--chdir", folder, *command]

    async def execute(self, request):
        body = await request.json()
        command = self.command(
            request.match_info["machine"], body.get("cwd") or "/workspace", "sh", "-c", body["command"]
        )
        process = await asyncio.create_subprocess_exec(
            *command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        output, _ = await process.communicate()
        return web.json_response({"exitCode": process.returncode, "result": output.decode(errors="replace")})

    async def terminal(self, request):
        """A login shell on a pseudo-terminal, talked to by a WebSocket."""
        socket = web.WebSocketResponse(protocols=["X-Daytona-Pty-Exit-Control"])
        await socket.prepare(request)
        ours, theirs = pty.openpty()
        command = self.command(request.match_info["machine"], request.query.get("cwd", "/workspace"), "bash", "-i")
        process = await asyncio.create_subprocess_exec(
            *command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        session = request.query["id"]
        self.processes[session] = process
        await socket.send_str(json.dumps({"type": "control", "status": "connected"}))
        reading = asyncio.create_task(self.read_terminal(ours, socket))
        writing = asyncio.create_task(self.write_terminal(ours, socket))
        await process.wait()
        await reading
        code = process.returncode
        with suppress(ConnectionError):
            exited = {"type": "control", "status": "exited", "exitCode": code if code >= 0 else 128 - code}
            await socket.send_str(json.dumps(exited))
            await socket.close(message=json.dumps({"exitCode": exited["exitCode"]}).encode())
        writing.cancel()
        os.close(ours)
        del self.processes[session]
        return socket

    async def read_terminal(self, terminal, socket):
        with suppress(OSError):
            while data := await asyncio.to_thread(os.read, terminal, 2**16):
                await socket.send_bytes(data)

    async def write_terminal(self, terminal, socket):
        async for message in socket:
            if message.type == WSMsgType.BINARY:
                data = message.data
                while data:
                    data = data[await asyncio.to_thread(os.write, terminal, data) :]

    def kill(self, session):
        process = self.processes.get(session)
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    async def kill_terminal(self, request):
        self.kill(request.match_info["session"])
        return web.json_response({"message": "killed"})

    def place(self, request, path):
        return self.folder / request.match_info["machine"] / path.lstrip("/")

    async def upload(self, request):
        async for part in await request.multipart():
            if part.name.endswith(".file"):
                file = self.place(request, unquote(part.filename))
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(await part.read())
        return web.Response()

    async def download(self, request):
        with MultipartWriter("form-data") as answer:
            for path in (await request.json())["paths"]:
                file = self.place(request, path)
                there = file.is_file()
                part = answer.append(file.read_bytes() if there else b"file not found")
                part.set_content_disposition(
                    "form-data", quote_fields=False, name="file" if there else "error", filename=path
                )
            return web.Response(body=answer, headers={"Content-Type": answer.content_type})


@contextmanager
def daytona_server(folder: Path):
    """The server in a thread of its own; gives it and the address of its API."""
    started, stop = threading.Event(), []
    server = DaytonaServer(folder)

    async def serve():
        runner = web.AppRunner(server.application, shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/api"
        ended = asyncio.Event()
        stop.append((asyncio.get_running_loop(), ended))
        started.set()
        await ended.wait()
        await runner.cleanup()

    thread = threading.Thread(target=asyncio.run, args=[serve()])
    thread.start()
    started.wait(30)
    try:
        yield server
    finally:
        loop, ended = stop[0]
        loop.call_soon_threadsafe(ended.set)
        thread.join()
