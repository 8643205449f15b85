"""How state becomes bytes: msgpack with a strict list of types, without secrets, and never pickle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ..state.outcome import Outcome, Usage
from ..state.plan import Plan, PlanStep, ToolExecution
from ..state.spec import AgentSpec
from .encryption import encrypted
from .redact import Redactor

STATE_TYPES: tuple[type, ...] = (AgentSpec, Outcome, Plan, PlanStep, ToolExecution, Usage)
"""Every class of ours that a state may hold. A type that is not here comes back from a checkpoint as a dict."""


class StateSerializer(JsonPlusSerializer):
    """LangGraph's serialiser with its safe types and `STATE_TYPES`, nothing else, masking secrets as it writes."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__(pickle_fallback=False, allowed_msgpack_modules=STATE_TYPES)
        self._redactor = redactor

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The kind and the bytes of a value, without its secrets."""
        kind, data = super().dumps_typed(obj)
        return kind, self._redactor.encoded(data) if kind == "msgpack" else self._redactor.raw(data)


@dataclass(frozen=True)
class Protection:
    """How the values of one database become bytes."""

    serde: SerializerProtocol
    """Msgpack, masked, and encrypted where there is a key."""

    redactor: Redactor
    """Masks what does not pass through `serde`, such as metadata."""


def protection(secrets: Iterable[str], key: str | None) -> Protection:
    """Masking of these secrets and of what looks like one, and encryption where a key is given.

    Raises:
        UsageError: the key is too short, or pycryptodome is not installed.
    """
    redactor = Redactor(secrets)
    plain = StateSerializer(redactor)
    return Protection(encrypted(plain, key) if key else plain, redactor)
