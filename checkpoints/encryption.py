"""Encryption at rest: AES over every stored value, with the key in `CLEW_ENCRYPTION_KEY`.

Values are encrypted: states, writes, thread records, payloads. What the database searches by is not: ids, names of
channels and nodes, and the metadata of checkpoints.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from langgraph.checkpoint.serde.base import CipherProtocol, SerializerProtocol
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from ..state.errors import CheckpointError, UsageError
from .database import Database
from .unreadable import UnreadableValue, stored_value

KEY_VARIABLE = "CLEW_ENCRYPTION_KEY"

SHORTEST_KEY = 16
"""Characters that a key must have. It is not stretched, so it should be random: `openssl rand -base64 32`."""

_CHECK = "this database is encrypted with the key that reads this"


CIPHER_MARK = "+"
"""What stands in the kind of an encrypted value before the name of the cipher."""


class _Cipher(CipherProtocol):
    """A cipher whose failure to decrypt is one of ours."""

    def __init__(self, cipher: CipherProtocol) -> None:
        self._cipher = cipher

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        return self._cipher.encrypt(plaintext)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        try:
            return self._cipher.decrypt(ciphername, ciphertext)
        except (ValueError, AssertionError) as error:
            raise UnreadableValue("another key, or other bytes") from error


def encrypted(serde: SerializerProtocol, key: str) -> EncryptedSerializer:
    """The serialiser with encryption around it. Values that were stored before in the clear are still read.

    Raises:
        UsageError: the key is too short, or pycryptodome is not installed.
    """
    if len(key) < SHORTEST_KEY:
        raise UsageError(f"{KEY_VARIABLE} must have {SHORTEST_KEY} characters or more: try `openssl rand -base64 32`")
    try:
        plain = EncryptedSerializer.from_pycryptodome_aes(serde, key=sha256(key.encode()).digest())
    except ImportError as error:
        raise UsageError(f"{KEY_VARIABLE} needs pycryptodome: pip install 'clew[encryption]'") from error
    return EncryptedSerializer(_Cipher(plain.cipher), serde)


async def check_key(database: Database, serde: SerializerProtocol) -> None:
    """See that the key is the one the database was encrypted with; the first key that comes is remembered.

    Raises:
        CheckpointError: it is another key, or there is none and the database is encrypted.
    """
    known = "SELECT type, value FROM facts WHERE name = 'key'"
    rows = await database.fetch(known)
    if not rows and isinstance(serde, EncryptedSerializer):
        statement = "INSERT INTO facts (name, type, value) VALUES ('key', ?, ?) ON CONFLICT (name) DO NOTHING"
        await database.write((statement, serde.dumps_typed(_CHECK)))
        rows = await database.fetch(known)
    for kind, value in rows:
        _read(serde, kind, value)


def _read(serde: SerializerProtocol, kind: str, value: Any) -> None:
    if not isinstance(serde, EncryptedSerializer):
        raise CheckpointError(f"the database is encrypted: set {KEY_VARIABLE}")
    try:
        stored_value(serde, kind, value)
    except UnreadableValue as error:
        raise CheckpointError(f"{KEY_VARIABLE} is not the key of this database: give the right one") from error
