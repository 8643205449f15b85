"""The layout of a SQLite database of checkpoints, and the way from older layouts to it."""

from __future__ import annotations

import sqlite3
from functools import cache
from itertools import chain

from .inbox import inbox_table
from .journal import journal_table
from .sqlite_database import transaction
from .sqlite_layout import Kind, Tables, tables_in, tables_made_by

VERSION = 3
"""Layout that this code reads and writes; kept in the file as `PRAGMA user_version`."""

_STOCK_TABLES = (
    """CREATE TABLE IF NOT EXISTS checkpoints (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT,
        type TEXT,
        checkpoint BLOB,
        metadata BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
    )""",
    """CREATE TABLE IF NOT EXISTS writes (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        task_path TEXT NOT NULL DEFAULT '',
        idx INTEGER NOT NULL,
        channel TEXT NOT NULL,
        type TEXT,
        value BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
    )""",
)
"""What LangGraph's own SQLite saver makes. A database of its is layout 0, and an empty file too."""

_TASK_PATH = "task_path"
"""A column that the first databases of that saver lack."""

_OWN_TABLES = (
    "ALTER TABLE checkpoints ADD COLUMN run_id TEXT",
    "ALTER TABLE writes ADD COLUMN run_id TEXT",
    "UPDATE checkpoints SET run_id = json_extract(CAST(metadata AS TEXT), '$.run_id')"
    " WHERE json_valid(CAST(metadata AS TEXT))",
    "CREATE INDEX checkpoints_by_run ON checkpoints (run_id) WHERE run_id IS NOT NULL",
    "CREATE TABLE facts (name TEXT PRIMARY KEY, type TEXT NOT NULL, value BLOB NOT NULL)",
    "CREATE TABLE threads (thread TEXT PRIMARY KEY, updated TEXT NOT NULL, type TEXT NOT NULL, record BLOB NOT NULL)",
    """CREATE TABLE leases (
        thread TEXT PRIMARY KEY,
        token TEXT NOT NULL,
        owner TEXT NOT NULL,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started TEXT NOT NULL,
        heartbeat INTEGER NOT NULL
    )""",
    journal_table("BLOB"),
)


_STEPS: tuple[tuple[str, ...], ...] = (_OWN_TABLES, (inbox_table("BLOB"),), ())
"""What leads from each layout to the next one, from layout 0 on. From 3 on the kinds of values have checksums."""


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Bring the database to layout `VERSION`, in one transaction.

    Raises:
        CheckpointError: the file holds something else, or a layout that is newer than this code; it stays as it was.
    """
    if DATABASE.layout(connection, path) == VERSION:
        return
    with transaction(connection):
        found = DATABASE.layout(connection, path)
        if found == VERSION:
            return
        if found == 0:
            _make_stock_tables(connection)
        for statement in chain.from_iterable(_STEPS[found:]):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={DATABASE.application}")
        connection.execute(f"PRAGMA user_version={VERSION}")


@cache
def _tables_of(layout: int) -> Tables:
    tables = tables_made_by(chain(_STOCK_TABLES, *_STEPS[:layout]))
    return tables if layout else {**tables, "writes": tables["writes"] - {_TASK_PATH}}


DATABASE = Kind(application=int.from_bytes(b"clew"), newest=VERSION, unmarked=2, tables=_tables_of)
"""The file of checkpoints, threads and leases."""


def _make_stock_tables(connection: sqlite3.Connection) -> None:
    for statement in _STOCK_TABLES:
        connection.execute(statement)
    if _TASK_PATH not in tables_in(connection)["writes"]:
        connection.execute(f"ALTER TABLE writes ADD COLUMN {_TASK_PATH} TEXT NOT NULL DEFAULT ''")
