"""Starts a kernel. A script of its own, run in the sandbox: it needs ipykernel and nothing of ours.

    python -u kernel_launcher.py OUTPUT FOLDER    < KEY

OUTPUT is the number of an inherited pipe that standard output and error go to, so that their order is kept, also that
of children. FOLDER, relative to the current one, takes the kernel's files and sockets: `s-1` to `s-5`, for shell,
iopub, stdin, control and heartbeat. KEY signs the messages.
"""

from __future__ import annotations

import os
import sys
import warnings

PORTS = {"shell_port": 1, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 5}


def main(output: int, folder: str) -> None:
    """Serve until the process is killed."""
    key = sys.stdin.buffer.read()
    sys.path[0] = ""
    from ipykernel.kernelapp import IPKernelApp
    from traitlets.config import Config

    config = Config()
    config.Session.key = key
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    # Without streams of its own the kernel leaves standard output and error as they are.
    app = IPKernelApp.instance(
        config=config,
        transport="ipc",
        ip=f"{folder}/s",
        connection_file=os.path.abspath(f"{folder}/connection.json"),  # noqa: PTH100 - a script without pathlib
        outstream_class=None,
        **PORTS,
    )
    app.initialize([])  # type: ignore[no-untyped-call]
    empty = os.open(os.devnull, os.O_RDONLY)
    # After the start, which has its own to say.
    for source, target in ((empty, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(empty)
    os.close(output)
    warnings.filterwarnings("ignore", message="To exit: use")
    sys.argv = [""]
    app.start()  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
