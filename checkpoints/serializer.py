"""How state becomes bytes: msgpack with a strict list of types, without secrets, and never pickle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import ormsgpack
from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.serde.jsonplus import EXT_CONSTRUCTOR_POS_ARGS, JsonPlusSerializer, _msgpack_enc
from langgraph.checkpoint.serde.types import TASKS
from langgraph.types import Send

from ..state.outcome import Outcome, Usage
from ..state.plan import Plan, PlanStep, ToolExecution
from ..state.spec import AgentSpec
from .encryption import CIPHER_MARK, encrypted
from .redact import Redactor
from .unreadable import UnreadableValue

STATE_TYPES: tuple[type, ...] = (AgentSpec, Outcome, Plan, PlanStep, ToolExecution, Usage)
"""Every class of ours that a state may hold. A type that is not here comes back from a checkpoint as a dict."""


CHECKSUM_MARK = "#"
"""What stands in a kind before the checksum (CRC-32) of the bytes, in 8 hexadecimal digits."""

_DECODING = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError, RecursionError)
"""What a decoder meets in bytes that are no encoded value."""


class StateSerializer(JsonPlusSerializer):
    """LangGraph's serialiser with its safe types and `STATE_TYPES`, nothing else, masking secrets as it writes.

    The kind of a value tells the checksum of its bytes, so that a value that the disk has changed is not taken for
    another one. LangGraph's own kinds, without one, are read too.
    """

    def __init__(self, redactor: Redactor, *, checksums: bool = True) -> None:
        """Mask with `redactor`; without `checksums` for what is encrypted: it has its own, and one in clear tells."""
        super().__init__(pickle_fallback=False, allowed_msgpack_modules=STATE_TYPES)
        self._redactor = redactor
        self._checksums = checksums

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The kind and the bytes of a value, without its secrets."""
        kind, data = super().dumps_typed(_with_packed_sends(obj))
        data = self._redactor.encoded(data) if kind == "msgpack" else self._redactor.raw(data)
        return (f"{kind}{CHECKSUM_MARK}{crc32(data):08x}" if self._checksums else kind), data

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a kind and its bytes.

        Raises:
            UnreadableValue: they are not what was stored.
            NotImplementedError: they are encrypted.
        """
        stored, encoded = data
        if CIPHER_MARK in stored:
            raise NotImplementedError("an encrypted value")
        kind, mark, checksum = stored.partition(CHECKSUM_MARK)
        if mark and checksum != f"{crc32(encoded):08x}":
            raise UnreadableValue("another checksum")
        try:
            return super().loads_typed((kind, encoded))
        except _DECODING as error:
            raise UnreadableValue(str(error)) from error


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
    plain = StateSerializer(redactor, checksums=not key)
    return Protection(encrypted(plain, key) if key else plain, redactor)
