"""What the thread registry, the leases and the blobs ask of a database, SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

Parameters = Sequence[Any]
Row = tuple[Any, ...]
Statement = tuple[str, Parameters]


class Database(Protocol):
    """One database. Queries mark their parameters with `?`; both kinds take `ON CONFLICT`."""

    name: str
    """What a person is told of it: the path of a file."""

    now: str
    """SQL for the database's own clock, in whole seconds since 1970."""

    async def fetch(self, query: str, parameters: Parameters = ()) -> list[Row]:
        """Run one query and return all its rows.

        Raises:
            CheckpointError: the database cannot be read.
        """
        ...

    async def write(self, *statements: Statement) -> list[int]:
        """Run statements in one transaction and return how many rows each touched.

        Raises:
            CheckpointError: the database cannot be written; nothing was.
        """
        ...
