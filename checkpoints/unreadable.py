"""Stored values that are not what was stored: told in a sentence that names the thread."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from pydantic import ValidationError

from ..state.errors import ThreadUnreadable
from ..state.settings import first_line


class UnreadableValue(ValueError):
    """A stored value that is damaged, or of a kind that is not known here."""


def stored_value(serde: SerializerProtocol, kind: Any, data: Any) -> Any:
    """The value that two columns of the database hold.

    Raises:
        UnreadableValue: they hold none.
    """
    if not isinstance(kind, str) or not isinstance(data, bytes | bytearray | memoryview):
        raise UnreadableValue("columns of other types")
    try:
        return serde.loads_typed((kind, bytes(data)))
    except NotImplementedError as error:
        raise UnreadableValue(str(error)) from error


def check_columns(row: Sequence[Any], *types: type | UnionType) -> None:
    """See that the first columns of a row are what was put there: SQLite would keep anything in any.

    Raises:
        UnreadableValue: one is not.
    """
    if not all(map(isinstance, row, types)):
        raise UnreadableValue("columns of other types")


class values_of:
    """Reads what is stored of a thread: what cannot be read becomes a `ThreadUnreadable` that names it."""

    def __init__(self, thread: str) -> None:
        """Name the thread."""
        self._thread = thread

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Raise the sentence, if the error says that a value is damaged, or written by a newer clew."""
        if not isinstance(error, ValueError | NotImplementedError):
            return
        way_out = f"restore the database from a backup, or delete the thread with `clew delete {self._thread}`"
        if isinstance(error, ValidationError):
            raise ThreadUnreadable(
                f"thread {self._thread} cannot be read ({first_line(error)}): if a newer clew wrote it, upgrade clew;"
                f" if not, {way_out}"
            ) from error
        raise ThreadUnreadable(f"thread {self._thread} holds a value that is damaged: {way_out}") from error
