"""The structured log: one JSON object a line, without secrets, in the file that `CLEW_LOG` names."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from ..state.errors import UsageError
from ..state.secret_shapes import LOGIN, LONG_SHAPES, MARKED_SHAPES
from ..state.secrets import is_secret_name, known_secrets, secret_settings
from ..state.settings import Settings
from ..state.stream import Event, TokenEvent

LOGGER = "clew"
"""Name of the logger that carries the events of runs."""

REDACTED = "[redacted]"

SECRET_TEXT = "|".join(
    [
        r"\b(?:sk|pk|ghp|gho|github_pat|glpat|xox[abpr])[-_][A-Za-z0-9_\-]{8,}",
        r"(?<=Bearer )[A-Za-z0-9._~+/\-]{8,}=*",
        *LONG_SHAPES,
        *(shape.pattern for shape in MARKED_SHAPES),
    ]
)
"""Keys wherever they stand: in a log also what is shorter than a key should be."""

SHORTEST_SECRET = 6
"""Characters below which a value is too common to be searched for."""


@contextmanager
def logging_to(settings: Settings) -> Iterator[None]:
    """Log to the file of the settings, appending, while the body runs; do nothing where they name none.

    Raises:
        UsageError: the file cannot be written.
    """
    if settings.log is None:
        yield
        return
    try:
        settings.log.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(settings.log, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"log {settings.log} cannot be written ({error.strerror}): set CLEW_LOG") from error
    handler.setFormatter(JsonFormatter(secret_values(settings, os.environ)))
    root, own = logging.getLogger(), logging.getLogger(LOGGER)
    level = own.level
    root.addHandler(handler)
    own.setLevel(logging.INFO)
    try:
        yield
    finally:
        own.setLevel(level)
        root.removeHandler(handler)
        handler.close()


def log_event(thread: str, event: Event) -> None:
    """Log one event of a run; the pieces of replies are left to the reply itself."""
    if not isinstance(event, TokenEvent) and logging.getLogger(LOGGER).isEnabledFor(logging.INFO):
        fields = {"thread": thread, **event.model_dump(mode="json")}
        logging.getLogger(LOGGER).info(event.event, extra={"fields": fields})


class JsonFormatter(logging.Formatter):
    """A log record as one JSON object: `time`, `level`, `logger`, `message` and the fields of the event."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._redact = redactor(secrets)

    def format(self, record: logging.LogRecord) -> str:
        """The line of one record, without secrets."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(self._redact(line), ensure_ascii=False, default=str)


def redactor(secrets: Iterable[str] = ()) -> Callable[[Any], Any]:
    """A function that takes the secrets out of JSON data: known values, texts like keys, values under secret names."""
    known = [re.escape(secret) for secret in sorted(secrets, key=len, reverse=True)]
    pattern, logins = re.compile("|".join([*known, SECRET_TEXT])), re.compile(LOGIN)

    def redact(value: Any) -> Any:
        if isinstance(value, str):
            return logins.sub(rf"\g<1>{REDACTED}", pattern.sub(REDACTED, value))
        if isinstance(value, Mapping):
            return {key: _named(key, item) for key, item in value.items()}
        return [redact(item) for item in value] if isinstance(value, list) else value

    def _named(key: str, item: Any) -> Any:
        return REDACTED if is_secret_name(key) and isinstance(item, str) and item else redact(item)

    return redact


def secret_values(settings: Settings, environment: Mapping[str, str]) -> set[str]:
    """The secrets that the settings and the environment hold, by the names they have there."""
    found = {*known_secrets(environment), *secret_settings(settings)}
    return {value for value in found if len(value) >= SHORTEST_SECRET}
