"""Stored values that are not what was stored: told in a sentence that names the thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
        raise UnreadableValue("no value")
    try:
        return serde.loads_typed((kind, bytes(data)))
    except (ValueError, TypeError, LookupError, AttributeError, NotImplementedError) as error:
        # What a decoder meets in bytes that are no encoded value.
        raise UnreadableValue(str(error)) from error


@contextmanager
def values_of(thread: str) -> Iterator[None]:
    """Read what is stored of a thread.

    Raises:
        ThreadUnreadable: a value is damaged, or written by a newer clew.
    """
    way_out = f"restore the database from a backup, or delete the thread with `clew delete {thread}`"
    try:
        yield
    except ValidationError as error:
        raise ThreadUnreadable(
            f"thread {thread} cannot be read ({first_line(error)}): if a newer clew wrote it, upgrade clew; if not,"
            f" {way_out}"
        ) from error
    except ValueError as error:
        raise ThreadUnreadable(f"thread {thread} holds a value that is damaged: {way_out}") from error
