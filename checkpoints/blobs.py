"""Large payloads, such as screenshots and long outputs: stored once, by content, and loaded on demand."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from sqlite3 import Connection

from ..state.errors import CheckpointError
from .database import Database, Statement
from .encryption import CIPHER_MARK
from .serializer import Protection
from .sqlite_database import SqliteDatabase, transaction
from .sqlite_layout import Kind, Tables, tables_in, tables_made_by
from .unreadable import UnreadableValue, stored_value

SCHEME = "sha256:"
"""How a reference begins; the hexadecimal digest of the content follows."""

_TABLES = (
    """CREATE TABLE IF NOT EXISTS blobs (
        digest TEXT PRIMARY KEY, size BIGINT NOT NULL, type TEXT NOT NULL, data {bytes} NOT NULL
    )""",
    "CREATE TABLE IF NOT EXISTS blob_uses (thread TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (thread, digest))",
    "CREATE INDEX IF NOT EXISTS blob_uses_by_digest ON blob_uses (digest)",
)

_ADD = """INSERT INTO blobs (digest, size, type, data) VALUES (?, ?, ?, ?) ON CONFLICT (digest)
    DO UPDATE SET type = excluded.type, data = excluded.data WHERE blobs.type <> excluded.type"""
# The same content has the same kind, unless it was stored before there was a key, or were checksums.
_USE = "INSERT INTO blob_uses (thread, digest) VALUES (?, ?) ON CONFLICT (thread, digest) DO NOTHING"
_END_USES = "DELETE FROM blob_uses WHERE thread = ?"
_DROP_UNUSED = "DELETE FROM blobs WHERE NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob_uses.digest = blobs.digest)"
SHARE = """INSERT INTO blob_uses (thread, digest) SELECT ?, digest FROM blob_uses WHERE thread = ?
    ON CONFLICT (thread, digest) DO NOTHING"""
"""Lets a thread use all payloads of another."""

_LIST = """SELECT u.digest, b.size FROM blob_uses u JOIN blobs b ON b.digest = u.digest
    WHERE u.thread = ? ORDER BY u.digest"""
_SIZES = "SELECT u.thread, sum(b.size) FROM blob_uses u JOIN blobs b ON b.digest = u.digest GROUP BY u.thread"


def blob_tables(bytes_type: str) -> list[str]:
    """The layout: for SQLite in a file of its own beside the database, for PostgreSQL in the database."""
    return [table.format(bytes=bytes_type) for table in _TABLES]


def prepare_blobs(connection: Connection, path: str) -> None:
    """Make the tables in a SQLite file that has none.

    Raises:
        CheckpointError: the file holds something else, or a layout that is newer than this code; it stays as it was.
    """
    # A payload that is stored anew under a key must not stay in the clear on pages that are free now.
    connection.execute("PRAGMA secure_delete=ON").fetchall()
    if _is_ready(connection, path):
        return
    with transaction(connection):
        if _is_ready(connection, path):
            return
        for table in blob_tables("BLOB"):
            connection.execute(table)
        connection.execute(f"PRAGMA application_id={BLOB_FILE.application}")
        connection.execute(f"PRAGMA user_version={BLOB_FILE.newest}")


def _is_ready(connection: Connection, path: str) -> bool:
    # The first files of payloads have the tables of layout 1 and no number.
    return BLOB_FILE.layout(connection, path) == BLOB_FILE.newest or bool(tables_in(connection))


@cache
def _tables_of(layout: int) -> Tables:
    return tables_made_by(blob_tables("BLOB"))


BLOB_FILE = Kind(application=int.from_bytes(b"cleb"), newest=1, unmarked=0, tables=_tables_of)
"""The file of payloads beside a SQLite database."""


def release_inline(database: SqliteDatabase, thread: str) -> None:
    """`BlobStore.release` for the sync interface of SQLite."""
    _write_inline(database, (_END_USES, (thread,)), (_DROP_UNUSED, ()))


def share_inline(database: SqliteDatabase, source: str, target: str) -> None:
    """Let a thread use all payloads of another."""
    _write_inline(database, (SHARE, (target, source)))


def _write_inline(database: SqliteDatabase, *statements: Statement) -> None:
    def work(connection: Connection) -> None:
        with transaction(connection):
            for query, parameters in statements:
                connection.execute(query, parameters)

    if not database.is_missing():
        database.run(work)


class BlobStore:
    """Payloads by reference. A payload lives as long as some thread uses it.

    The reference is the hash of the content in the clear, so whoever has the file can tell whether it holds a
    payload that he has already, encrypted or not.
    """

    def __init__(self, database: Database, protection: Protection) -> None:
        self._database = database
        self._serde = protection.serde
        self._redactor = protection.redactor

    async def put(self, thread: str, payload: bytes | str) -> str:
        """Store a payload for a thread and return its reference. The same content is stored once.

        Secrets are masked, in a text those of any kind, in bytes the known ones.

        Raises:
            CheckpointError: the database cannot be written.
        """
        text = self._redactor.text(payload).encode() if isinstance(payload, str) else payload
        clean = self._redactor.raw(text)
        digest = sha256(clean).hexdigest()
        row = (digest, len(clean), *self._serde.dumps_typed(clean))
        await self._database.write((_ADD, row), (_USE, (thread, digest)))
        return SCHEME + digest

    async def get(self, reference: str) -> bytes:
        """The payload of a reference.

        Raises:
            CheckpointError: it is not there, or cannot be read.
        """
        digest = reference.removeprefix(SCHEME)
        rows = await self._database.fetch("SELECT type, data FROM blobs WHERE digest = ?", (digest,))
        if not rows:
            raise CheckpointError(f"no payload {reference}: its thread was deleted, or it belongs to another database")
        try:
            payload = stored_value(self._serde, *rows[0])
            if not isinstance(payload, bytes) or sha256(payload).hexdigest() != digest:
                raise UnreadableValue("another content")
        except UnreadableValue as error:
            place, kind = self._database.name, rows[0][0]
            way_out = f"restore {place} from a backup, or delete the thread that uses it"
            if CIPHER_MARK in str(kind):
                raise CheckpointError(
                    f"payload {reference} is damaged, or {place} is encrypted with another key than the rest: {way_out}"
                ) from error
            raise CheckpointError(f"payload {reference} is damaged: {way_out}") from error
        return payload

    async def references(self, thread: str) -> dict[str, int]:
        """The references that a thread uses, and the bytes of each payload."""
        return {SCHEME + digest: int(size) for digest, size in await self._database.fetch(_LIST, (thread,))}

    async def sizes(self) -> dict[str, int]:
        """The bytes of the payloads that each thread uses."""
        return {thread: int(size) for thread, size in await self._database.fetch(_SIZES)}

    async def release(self, thread: str) -> None:
        """End a thread's use of its payloads; those that no other thread uses are deleted."""
        if await self.references(thread):
            await self._database.write((_END_USES, (thread,)), (_DROP_UNUSED, ()))
