"""A PostgreSQL server of the tests' own: started from Debian's package, as an ordinary user, on a free port."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

SETTINGS = "-c fsync=off -c synchronous_commit=off -c full_page_writes=off -c listen_addresses=127.0.0.1"
"""The tests' data may be lost in a power cut."""


@contextmanager
def running_server() -> Iterator[str]:
    """The URL of a server without its database; skips where PostgreSQL is missing, but not under CI."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="clew-postgres-"))
    identity = _ordinary_user(folder)
    port = _free_port()
    data = folder / "data"
    control = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log")]
    try:
        _run([str(programs / "initdb"), "-D", str(data), "-U", "clew", "-A", "trust", "-E", "UTF8", "-N"], identity)
        _run([*control, "-o", f"{SETTINGS} -p {port} -k {folder}", "start"], identity)
        try:
            yield f"postgresql://clew@127.0.0.1:{port}"
        finally:
            _run([*control, "-m", "immediate", "stop"], identity)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str) -> str:
    """The URL of a new, empty database of the server."""
    import psycopg

    name = f"t{uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
    return f"{server}/{name}"


def _programs() -> Path:
    found = shutil.which("initdb")
    places = (
        [Path(found).resolve().parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    reason = "PostgreSQL is not installed: apt-get install postgresql"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _ordinary_user(folder: Path) -> dict[str, Any]:
    """PostgreSQL refuses to run as root, who gives the folder to somebody else."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    os.chown(folder, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _run(command: list[str], identity: dict[str, Any]) -> None:
    done = subprocess.run(
        command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **identity
    )
    assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"
