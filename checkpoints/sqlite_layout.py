"""Whether a SQLite file is one of ours, and of which layout: seen before anything is written to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

from ..state.errors import CheckpointError

Tables = Mapping[str, frozenset[str]]
"""Names of tables, and of the columns of each."""


class Seen(NamedTuple):
    """What a file says of itself."""

    application: int
    """`PRAGMA application_id`; 0 where no program has set it."""

    layout: int
    """`PRAGMA user_version`."""

    tables: Tables
    """What is in it."""


@dataclass(frozen=True)
class Kind:
    """One kind of file of ours."""

    application: int
    """The `application_id` of its files."""

    newest: int
    """Layout that this code reads and writes."""

    unmarked: int
    """Newest layout whose files may lack the `application_id`."""

    tables: Callable[[int], Tables]
    """What a file of a layout has at least."""

    def layout(self, connection: sqlite3.Connection, path: str) -> int:
        """The layout of a file; 0 for one that is empty. Nothing is written.

        Raises:
            CheckpointError: the file is of another program, is damaged, or has a layout newer than this code.
        """
        seen = _look(connection)
        ours = seen.application == self.application
        if seen == Seen(0, 0, {}):
            return 0
        if ours and seen.layout > self.newest:
            raise CheckpointError(f"{path} has layout {seen.layout} and this clew knows {self.newest}: upgrade clew")
        unmarked = seen.application == 0 and 0 <= seen.layout <= self.unmarked
        fitting = 0 <= seen.layout <= self.newest and self._fits(seen)
        if fitting and (ours or unmarked):
            return seen.layout
        if ours:
            raise CheckpointError(f"{path} lacks tables: restore it from a backup or name another database")
        raise CheckpointError(f"{path} is a SQLite database of another program: name another database")

    def _fits(self, seen: Seen) -> bool:
        """Whether all tables of the layout are there, and none stands where a later layout puts its own."""
        present, coming = self.tables(seen.layout), self.tables(self.newest)
        complete = all(columns <= seen.tables.get(name, frozenset()) for name, columns in present.items())
        return complete and not (coming.keys() - present.keys()) & seen.tables.keys()


def tables_made_by(statements: Iterable[str]) -> Tables:
    """What an empty database holds after some statements."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for statement in statements:
            model.execute(statement)
        return tables_in(model)


def tables_in(connection: sqlite3.Connection) -> Tables:
    """The tables and views of a database, in small letters, as SQLite compares them."""
    rows = connection.execute(
        "SELECT lower(m.name), lower(c.name) FROM sqlite_master m, pragma_table_info(m.name) c"
        " WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    return {table: frozenset(column for name, column in rows if name == table) for table, _ in rows}


def _look(connection: sqlite3.Connection) -> Seen:
    # One transaction: another process may be making the tables just now.
    inside = connection.in_transaction
    if not inside:
        connection.execute("BEGIN")
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    seen = Seen(application, version, tables_in(connection))
    if not inside:
        connection.execute("COMMIT")
    return seen
