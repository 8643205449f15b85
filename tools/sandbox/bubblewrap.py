"""Commands in namespaces of their own, by bubblewrap: they see the system read-only, the workspace, and no more."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from ..workspace import Workspace
from .cgroup import ControlGroup
from .limits import SandboxOptions
from .local import LocalSandbox

ISOLATION = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "clew")

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store")

SYSTEM_FILES = (
    *("alternatives", "ca-certificates", "fonts", "group", "hosts", "java", "ld.so.cache", "ld.so.conf"),
    *("ld.so.conf.d", "localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki"),
    *("profile.d", "protocols", "services", "ssl", "terminfo", "timezone"),
)
"""What is bound of /etc; never the whole, which holds keys and password hashes that root may read."""

TEMPORARY = "/tmp"


class BubblewrapSandbox(LocalSandbox):
    """Namespaces for processes, files, users and network; the workspace is bound at its real path."""

    name: ClassVar[str] = "bubblewrap"
    contained: ClassVar[bool] = True
    wrappers: ClassVar[int] = 2

    def __init__(self, workspace: Workspace, options: SandboxOptions, group: ControlGroup) -> None:
        super().__init__(workspace, options, group)
        self._temporary = tempfile.mkdtemp(prefix="clew-")

    def _clean(self) -> None:
        super()._clean()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _command(self, command: Sequence[str], readable: Sequence[Path]) -> list[str]:
        root = str(self.workspace.root)
        return [
            "bwrap",
            *ISOLATION,
            *(["--share-net", *_bound("/etc/resolv.conf")] if self.options.network else []),
            *system_mounts(),
            *("--proc", "/proc", "--dev", "/dev"),
            *("--bind", self._temporary, TEMPORARY),
            *(part for path in _interpreters() for part in _bound(path)),
            *("--bind", root, root, "--chdir", root),
            *(part for path in readable for part in _bound(str(path))),
            "--",
            *self._counted(command),
        ]

    def _environment(self) -> dict[str, str]:
        return {"HOME": TEMPORARY, "TMPDIR": TEMPORARY, "USER": "clew", "LOGNAME": "clew", "SHELL": "/bin/bash"}

    def _counted(self, command: Sequence[str]) -> list[str]:
        # Inside of the user namespace the limit counts the sandbox's own processes; for root it counts nothing.
        if self._group.folders or os.getuid() == 0:
            return [*command]
        script = f'ulimit -u {self.options.limits.processes}; exec "$@"'
        return ["bash", "-c", script, "bash", *command]


def bare_command() -> list[str]:
    """The command line of a sandbox without a workspace, to be followed by a program: where it works, all do."""
    return ["bwrap", *ISOLATION, *system_mounts(), *("--proc", "/proc", "--dev", "/dev"), "--"]


def system_mounts() -> list[str]:
    """Arguments that bind the system read-only, its links as links."""
    arguments: list[str] = []
    for folder in map(Path, SYSTEM_FOLDERS):
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        else:
            arguments += _bound(str(folder))
    for name in SYSTEM_FILES:
        arguments += _bound(f"/etc/{name}")
    return arguments


def _interpreters() -> list[str]:
    """Folders of the interpreter that runs clew, where they lie outside of the system's."""
    folders = dict.fromkeys((sys.base_prefix, sys.prefix))
    return [folder for folder in folders if not folder.startswith(("/usr/", "/opt/")) and folder != "/usr"]


def _bound(path: str) -> list[str]:
    return ["--ro-bind-try", path, path]
