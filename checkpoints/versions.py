"""Channel versions from one database made fit for another."""

from __future__ import annotations

from typing import Any
from zlib import crc32

from langgraph.checkpoint.base import Checkpoint

from .durable import DurableSaver

Known = dict[tuple[str, Any], Any]


class Versions:
    """Turns whole numbers, as SQLite threads have them, into the texts that PostgreSQL threads need.

    PostgreSQL keeps one value for each channel and version, so versions that two branches of a history count
    alike must differ there: each gets the checkpoint that made it as its fraction. Texts stay as they are.
    """

    def __init__(self, saver: DurableSaver) -> None:
        self._needs_text = isinstance(saver.get_next_version(None, None), str)
        self._known: dict[tuple[str, str | None], Known] = {}

    def adopt(self, namespace: str, parent: str | None, checkpoint: Checkpoint) -> Checkpoint:
        """The checkpoint with versions for the target. Parents come before their children."""
        if not self._needs_text:
            return checkpoint
        inherited = self._known.get((namespace, parent), {})
        known: Known = {}
        for channel, version in checkpoint["channel_versions"].items():
            known[channel, version] = inherited.get((channel, version)) or _text(version, checkpoint["id"])
        for seen in checkpoint["versions_seen"].values():
            for channel, version in seen.items():
                earlier = inherited.get((channel, version)) or known.get((channel, version))
                known[channel, version] = earlier or _text(version, checkpoint["id"])
        self._known[namespace, checkpoint["id"]] = known
        adopted = checkpoint.copy()
        adopted["channel_versions"] = _renamed(checkpoint["channel_versions"], known)
        adopted["versions_seen"] = {node: _renamed(seen, known) for node, seen in checkpoint["versions_seen"].items()}
        return adopted


def _text(version: Any, checkpoint: str) -> Any:
    return f"{version:032}.{crc32(checkpoint.encode()):016}" if isinstance(version, int) else version


def _renamed(versions: Any, known: Known) -> dict[str, Any]:
    return {channel: known[channel, version] for channel, version in versions.items()}
