"""Secrets are masked before anything is written to a checkpoint, a blob or a log.

A secret is a value that the settings or the environment name as one, or a text of a shape that only secrets have.
The cost is flat: a few substring searches over the encoded bytes; only where one hits are the texts looked at.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable
from typing import Any

import ormsgpack

from ..state.secret_shapes import LOGIN, LONG_SHAPES, MARKED_SHAPES, RUN, START

MASK = "[redacted]"
"""What stands where a secret stood."""

SHORTEST = 8
"""Characters below which a known value is not searched for: it would be found in ordinary words."""

_FOLDED = bytes(ord("a") if chr(code).isascii() and chr(code).isalnum() else 0 for code in range(256))
_ROW = b"a" * RUN
_LOGINS = re.compile(LOGIN)


class Redactor:
    """Masks secrets in texts and in encoded values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Search for these values, and for whatever has the shape of a key."""
        forms = {form for secret in secrets if len(secret) >= SHORTEST for form in (secret, json.dumps(secret)[1:-1])}
        known = sorted(forms, key=len, reverse=True)
        self._known = [form.encode("utf-8", "surrogatepass") for form in known]
        self._marks = [form for form in self._known if not _has_row(form)]
        rows = [re.escape(form) for form in self._known if _has_row(form)]
        self._rows = re.compile(b"|".join([*rows, *(shape.encode() for shape in LONG_SHAPES)]))
        self._shapes = [
            (shape.first.encode(), shape.mark.encode(), re.compile(shape.pattern.encode())) for shape in MARKED_SHAPES
        ]
        self._logins = re.compile(LOGIN.encode())
        shapes = [*LONG_SHAPES, *(shape.pattern for shape in MARKED_SHAPES)]
        self._pattern = re.compile("|".join([*map(re.escape, known), *(START + shape for shape in shapes)]))

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if not self.suspects(text.encode("utf-8", "surrogatepass")):
            return text
        return _LOGINS.sub(rf"\g<1>{MASK}", self._pattern.sub(MASK, text))

    def suspects(self, data: bytes) -> bool:
        """Whether some bytes may hold a secret. May be wrong about a secret, never about its absence."""
        # Plain loops: this runs for every value that is stored, and generators would cost three times as much.
        for mark in self._marks:
            if mark in data:
                return True
        if _ROW in data.translate(_FOLDED) and self._rows.search(data) is not None:
            return True
        for first, mark, shape in self._shapes:
            if first in data and mark in data and shape.search(data) is not None:
                return True
        return b"@" in data and b"://" in data and self._logins.search(data) is not None

    def encoded(self, data: bytes) -> bytes:
        """A msgpack value, and those nested in it, without the secrets of their texts."""
        if not self.suspects(data):
            return data
        value = ormsgpack.unpackb(data, ext_hook=self._extension, option=ormsgpack.OPT_NON_STR_KEYS)
        return ormsgpack.packb(self._masked(value), option=ormsgpack.OPT_NON_STR_KEYS)

    def json(self, data: bytes) -> bytes:
        """A JSON text in UTF-8 without its secrets."""
        return self.text(data.decode()).encode() if self.suspects(data) else data

    def raw(self, data: bytes) -> bytes:
        """Plain bytes without the known values; shapes are not searched for, since any bytes may have one."""
        for form in self._known:
            data = data.replace(form, MASK.encode())
        return data

    def _extension(self, code: int, data: bytes) -> ormsgpack.Ext:
        return ormsgpack.Ext(code, self.encoded(data))

    def _masked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes):
            return self.raw(value)
        if isinstance(value, dict):
            return {self._masked(key): self._masked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._masked(item) for item in value]
        return value


class RedactingFilter(logging.Filter):
    """Masks secrets in every record of the log handler that it is added to."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Put the finished, masked message in the record's place; tracebacks are masked too."""
        record.msg, record.args = self._redactor.text(record.getMessage()), None
        if record.exc_info:
            record.exc_text = self._redactor.text(logging.Formatter().formatException(record.exc_info))
            record.exc_info = None
        return True


def _has_row(data: bytes) -> bool:
    return _ROW in data.translate(_FOLDED)
