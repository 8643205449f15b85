"""The definitions of tools that a person has accepted, by their hashes, in one private file of the home folder.

The first definition that is seen of a tool is accepted. One that comes later in its place could tell the model
anything, so the tool is withheld until a person has looked at the change.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, NamedTuple

from ...state.errors import UsageError
from ...state.mcp import McpServer

if TYPE_CHECKING:  # the SDK is slow to import
    from mcp_types import Tool

FILE = Path("mcp", "tools.json")
"""Where the home folder has them."""

ACCEPTED, REFUSED = "accepted", "refused"


class Changed(NamedTuple):
    """A tool whose definition is not the accepted one."""

    server: str
    """Name of the server."""

    tool: str
    """Name of the tool, as the server calls it."""

    digest: str
    """Hash of the new definition."""

    before: str
    """The description that was accepted."""

    after: str
    """The description as it is now."""


class Pins:
    """The file of accepted definitions. All of it blocks."""

    def __init__(self, home: Path) -> None:
        self._file = home / FILE

    def changed(self, server: McpServer, tools: Iterable[Tool]) -> list[Changed]:
        """The tools whose definition is not the accepted one; those that were never seen are accepted here.

        Raises:
            UsageError: the file is not to be read or written.
        """
        with self._alone():
            pins = self._read()
            known, changed, fresh = pins.setdefault(_key(server), {}), [], False
            for tool in tools:
                digest, entry = definition_hash(tool), known.get(tool.name)
                if entry is None:
                    known[tool.name] = {ACCEPTED: digest, "description": tool.description or ""}
                    fresh = True
                elif entry[ACCEPTED] != digest:
                    before, after = entry.get("description", ""), tool.description or ""
                    changed.append(Changed(server.name, tool.name, digest, before, after))
            if fresh:
                self._write(pins)
            return changed

    def is_refused(self, server: McpServer, change: Changed) -> bool:
        """Whether a person has refused just this definition."""
        entry = self._read().get(_key(server), {}).get(change.tool, {})
        return bool(entry.get(REFUSED) == change.digest)

    def settle(self, server: McpServer, change: Changed, *, accept: bool) -> None:
        """Keep what a person decided about a changed definition."""
        with self._alone():
            pins = self._read()
            known = pins.setdefault(_key(server), {})
            entry = {**known.get(change.tool, {}), (ACCEPTED if accept else REFUSED): change.digest}
            known[change.tool] = {**entry, "description": change.after} if accept else entry
            self._write(pins)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other agents and processes from the file between its reading and its writing."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._file.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _read(self) -> dict[str, Any]:
        try:
            pins = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {self._file} ({error}); mend it, or delete it to accept anew") from error
        return pins if isinstance(pins, dict) else {}

    def _write(self, pins: dict[str, Any]) -> None:
        write_private(self._file, json.dumps(pins, indent=1, ensure_ascii=False))


def definition_hash(tool: Tool) -> str:
    """Hash of all that a model is told of a tool, and of what the tool says about its risk."""
    told = tool.model_dump(mode="json", include={"title", "description", "input_schema", "annotations"})
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner may read, all of it or nothing. Blocking."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{token_hex(8)}")
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(file)


def _key(server: McpServer) -> str:
    # A server of the same name that is another one is met anew.
    return f"{server.name} {sha256(server.target.encode()).hexdigest()[:12]}"
