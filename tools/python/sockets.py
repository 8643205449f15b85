"""Where a kernel is reached."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ..workspace import Workspace
from . import kernel_launcher

if TYPE_CHECKING:
    from jupyter_client.asynchronous.client import AsyncKernelClient

FOLDER = "kernels"
"""Folder, inside the workspace's private one, of the kernels' sockets."""


class Sockets:
    """Folder of one kernel's sockets. All of it blocks.

    Addresses of sockets are short: the kernel says them relative to its current folder, the workspace, and we over a
    link in the folder of temporary files.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.key = secrets.token_hex(32).encode()
        self._folder = workspace.private(FOLDER, secrets.token_hex(6), "connection.json").parent
        self._link = Path(tempfile.mkdtemp(prefix="clew-"), "k")
        self._link.symlink_to(self._folder)
        self.name = os.fspath(self._folder.relative_to(workspace.root))
        """Path of the folder, relative to the workspace."""

    @property
    def environment(self) -> dict[str, str]:
        """Variables of the kernel: figures come back as images, and no settings of a person's are read."""
        places = {"IPYTHONDIR": str(self._folder / "ipython"), "JUPYTER_CONFIG_DIR": str(self._folder)}
        return {"MPLBACKEND": "module://matplotlib_inline.backend_inline", **places}

    def client(self) -> AsyncKernelClient:
        """A client that is not connected yet."""
        from jupyter_client.asynchronous.client import AsyncKernelClient  # slow to import, and of an extra

        client = AsyncKernelClient()
        where: dict[str, Any] = {"transport": "ipc", "ip": f"{self._link}/s", "key": self.key, **kernel_launcher.PORTS}
        client.load_connection_info(cast(Any, where))
        return client

    def remove(self) -> None:
        """Remove the folder and the link."""
        shutil.rmtree(self._link.parent, ignore_errors=True)
        shutil.rmtree(self._folder, ignore_errors=True)
