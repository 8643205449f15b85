"""How state becomes bytes: msgpack with a strict list of types, without secrets, and never pickle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_POS_ARGS, JsonPlusSerializer, _msgpack_enc
from langgraph.checkpoint.serde.types import TASKS
from langgraph.types import Send

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
        kind, data = super().dumps_typed(_with_packed_sends(obj))
        return kind, self._redactor.encoded(data) if kind == "msgpack" else self._redactor.raw(data)


def _with_packed_sends(value: Any) -> Any:
    """The value, with the `Send`s of a write or a checkpoint in the form that LangGraph's serialiser gives them.

    That asks each of them whether it is like a `Send`, which Python 3.11 answers in 20 microseconds.
    """
    if type(value) is Send:
        return _packed(value)
    channels = value.get("channel_values") if type(value) is dict else None
    if not channels or not channels.get(TASKS):
        return value
    packed = [_packed(task) if type(task) is Send else task for task in channels[TASKS]]
    return {**value, "channel_values": {**channels, TASKS: packed}}


def _packed(send: Send) -> Any:
    if send.timeout is not None:
        return send
    return ormsgpack.Ext(EXT_CONSTRUCTOR_POS_ARGS, _msgpack_enc((Send.__module__, "Send", (send.node, send.arg))))


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
