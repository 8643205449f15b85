"""Secrets are masked before anything is written to a checkpoint, a blob or a log.

A secret is a value that the settings or the environment name as one, or a text of a shape that only keys have.
The cost is flat: a few substring searches over the encoded bytes; only where one hits are the texts looked at.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import ormsgpack
from pydantic import SecretStr

MASK = "[redacted]"
"""What stands where a secret stood."""

SHORTEST = 8
"""Characters below which a known value is not searched for: it would be found in ordinary words."""

_TAIL = r"[A-Za-z0-9_-]"

SHAPES: Mapping[str, str] = {
    "sk-": rf"sk-(?={_TAIL}*[0-9]){_TAIL}{{20,}}",
    "ghp_": r"ghp_[A-Za-z0-9]{36,}",
    "gho_": r"gho_[A-Za-z0-9]{36,}",
    "ghs_": r"ghs_[A-Za-z0-9]{36,}",
    "github_pat_": r"github_pat_[A-Za-z0-9_]{22,}",
    "glpat-": rf"glpat-{_TAIL}{{20,}}",
    "AKIA": r"AKIA[A-Z0-9]{16}",
    "ASIA": r"ASIA[A-Z0-9]{16}",
    "AIza": rf"AIza{_TAIL}{{35}}",
    "xox": r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    "hf_": r"hf_[A-Za-z0-9]{30,}",
    "gsk_": r"gsk_[A-Za-z0-9]{40,}",
    "lsv2_": r"lsv2_[a-z]{2}_[A-Za-z0-9_]{32,}",
    "npm_": r"npm_[A-Za-z0-9]{36,}",
    "pypi-": rf"pypi-{_TAIL}{{50,}}",
    "eyJ": rf"eyJ{_TAIL}{{8,}}\.eyJ{_TAIL}{{8,}}\.{_TAIL}{{8,}}",
    "Bearer ": r"Bearer (?=[A-Za-z0-9._~+/-]*[0-9])[A-Za-z0-9._~+/-]{20,}=*",
    "PRIVATE KEY-----": r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
}
"""What keys of well-known services look like, and the part of each that is searched for first."""

_START = r"(?:(?<![A-Za-z0-9_])|(?<=\\[nrt]))"
# A key does not begin inside a word; but in JSON within a text, an escaped line break ends in a letter.

_NAMES = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|ENCRYPTION_KEY|ACCESS_KEY|CREDENTIALS?)$", re.IGNORECASE)
"""Names of environment variables and settings whose values are secrets."""


class Redactor:
    """Masks secrets in texts and in encoded values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Search for these values, and for whatever has the shape of a key."""
        known = {form for secret in secrets if len(secret) >= SHORTEST for form in (secret, json.dumps(secret)[1:-1])}
        self._known = [re.escape(form) for form in sorted(known, key=len, reverse=True)]
        self._marks = [form.encode() for form in known]
        self._shapes = [(mark.encode(), re.compile(shape.encode())) for mark, shape in SHAPES.items()]
        guarded = [_START + shape for shape in SHAPES.values()]
        self._pattern = re.compile("|".join([*self._known, *guarded]))

    def text(self, text: str) -> str:
        """The text without its secrets."""
        return self._pattern.sub(MASK, text) if self.suspects(text.encode("utf-8", "surrogatepass")) else text

    def suspects(self, data: bytes) -> bool:
        """Whether some bytes may hold a secret. May be wrong about a secret, never about its absence."""
        # Plain loops: this runs for every value that is stored, and generators would cost three times as much.
        for mark in self._marks:
            if mark in data:
                return True
        for mark, shape in self._shapes:  # noqa: SIM110
            if mark in data and shape.search(data) is not None:
                return True
        return False

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
        for mark in self._marks:
            data = data.replace(mark, MASK.encode())
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


def known_secrets(settings: Mapping[str, Any] | None = None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The values that are secrets by their names: in settings (nested as they are) and in the environment."""
    found = [value for name, value in environment.items() if _NAMES.search(name) and len(value) >= SHORTEST]
    return sorted({*found, *_secret_settings(settings or {})})


def _secret_settings(settings: Mapping[str, Any]) -> Iterable[str]:
    for name, value in settings.items():
        if isinstance(value, SecretStr):
            value, name = value.get_secret_value(), "SECRET"
        if isinstance(value, Mapping):
            yield from _secret_settings(value)
        elif isinstance(value, str) and _NAMES.search(str(name)) and len(value) >= SHORTEST:
            yield value
