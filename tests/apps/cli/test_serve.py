"""`clew serve`: what is wrong is said before anything is served."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest

COMMAND = [sys.executable, "-m", "clew.apps.cli.main", "serve", "a2a"]


def test_a_taken_port_is_said_in_one_line(clew):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = clew("serve", "a2a", "--port", str(port))
    assert result.code == 2
    assert (
        result.err
        == f"clew: 127.0.0.1:{port} cannot be served (Address already in use): name another --port or --host\n"
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--host", "0.0.0.0"], "0.0.0.0 is open to other machines and no caller has a key"),
        (["--agent", "nobody"], "nobody"),
        (["--port", "70000"], "'70000' is no port from 1 to 65535"),
    ],
)
def test_bad_arguments_are_said_in_one_line(clew, arguments, sentence):
    result = clew("serve", "a2a", *(["--port", "1"] if "--port" not in arguments else []), *arguments)
    assert result.code == 2
    assert sentence in result.err.splitlines()[-1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_in_good_order(script, number):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    with subprocess.Popen(
        [*COMMAND, "--port", str(port), "--model", script("Done.")], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"serving manus over A2A at http://127.0.0.1:{port} (Ctrl-C ends it)\n"
        process.send_signal(number)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""


@pytest.mark.parametrize("protocol", ["a2a", "mcp"])
def test_a_server_without_a_model_is_refused_before_anybody_calls(clew, protocol):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    result = clew("serve", protocol, *(["--http"] if protocol == "mcp" else []), "--port", str(port))
    assert (result.code, len(result.err.splitlines())) == (2, 1)
    assert result.err.startswith("clew: no model is set: give one, such as --model")
