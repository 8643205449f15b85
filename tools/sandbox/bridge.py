"""Runs a command with pipes on a terminal of another machine. A script of its own: standard library only.

    python3 bridge.py FOLDER MARK

`FOLDER/MARK.json` says what to run: `command`, `environment` and `folder`; the file is removed. The terminal is raw.
Lines that come in are Base64 of the command's input, and `.` ends it. What goes out is a line with the mark, and then
the command's output and error as they are. What the command leaves behind is killed; its exit code is the script's.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from base64 import b64decode
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

MARK = "CLEW_COMMAND"
"""Variable by which the processes of one command are found, also those that became daemons."""


def main(folder: str, mark: str) -> int:
    """Run the command to its end."""
    file = Path(folder, f"{mark}.json")
    given = json.loads(file.read_text(encoding="utf-8"))
    file.unlink()
    environment = {**os.environ, **given["environment"], MARK: mark}
    write(f"{begin(mark)}\n".encode())
    try:
        process = Popen(
            given["command"],
            bufsize=0,
            stdin=PIPE,
            stdout=PIPE,
            stderr=STDOUT,
            cwd=given["folder"],
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        write(f"{given['command'][0]}: {error.strerror}\n".encode())
        return 127
    threading.Thread(target=feed, args=[process], daemon=True).start()
    burying = threading.Thread(target=bury, args=[process, mark])
    burying.start()
    assert process.stdout is not None, "it is a pipe"
    while chunk := os.read(process.stdout.fileno(), 2**16):
        write(chunk)
    code = process.wait()
    burying.join()
    return code if code >= 0 else 128 - code


def begin(mark: str) -> str:
    """What stands before the output; unlike the mark itself, no shell repeats it."""
    return f"\x1e{mark[::-1]}"


def feed(process: Popen[bytes]) -> None:
    """Hand on the input."""
    assert process.stdin is not None, "it is a pipe"
    with suppress(BrokenPipeError):
        for line in sys.stdin.buffer:
            if line.strip() == b".":
                break
            process.stdin.write(b64decode(line))
    with suppress(BrokenPipeError):
        process.stdin.close()


def bury(process: Popen[bytes], mark: str) -> None:
    """Wait for the end of the command, and kill what it leaves: only then does the output end."""
    process.wait()
    for pid in marked(mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def marked(mark: str) -> list[int]:
    """Ids of the processes of a command, the oldest first."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return sorted(found)


def write(data: bytes) -> None:
    """Write all of it."""
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    # An interpreter that ends in the usual way aborts where a thread still reads the input.
    os._exit(main(sys.argv[1], sys.argv[2]))
