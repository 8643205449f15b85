"""What the graph must know of a tool before it calls it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from langchain_core.tools import BaseTool

from ..state.confirmation import Risk

__all__ = ["RISKY", "Risk", "Traits", "traits_of"]

RISKY: frozenset[Risk] = frozenset({"high", "unknown"})
"""Risks that the policy `risky` asks a person about (OpenHands' ConfirmRisky with its defaults)."""


@dataclass(frozen=True)
class Traits:
    """Traits of one tool. The defaults are those of a tool that says nothing."""

    parallel: bool = True
    """Whether it may run beside the other calls of the same message."""

    idempotent: bool = False
    """Whether a second run of the same call does no harm, so that a call cut off by a crash may run again."""

    risk: Risk = "unknown"
    """What a call may break: `low` nothing, `medium` files of the workspace, `high` more than that."""

    def metadata(self) -> dict[str, Any]:
        """As `BaseTool.metadata` carries them."""
        return asdict(self)


def traits_of(tool: BaseTool) -> Traits:
    """Read the traits from a tool's metadata; the defaults where it has none or malformed ones."""
    metadata = tool.metadata or {}
    risk = metadata.get("risk")
    return Traits(
        parallel=metadata.get("parallel") is not False,
        idempotent=metadata.get("idempotent") is True,
        risk=risk if risk in ("low", "medium", "high") else "unknown",
    )
