"""What a provider's exception means: whether another try may help, and what the provider said.

The clients of the providers have no common base class, and none of them may be imported before it is used. So an
exception is judged by what it carries: LangChain's own classes, a status code, and the names of its base classes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from langchain_core.exceptions import ContextOverflowError
from langchain_core.exceptions import ModelError as ProviderError

from ..state.errors import ClewError

TRANSIENT_STATUSES = frozenset({408, 409, 429})
"""Besides 5xx: request timeout, conflict (a lock that may pass) and too many requests."""

HOPELESS_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes under which a 429 is about money, not about speed."""

OVERFLOW_CODES = frozenset({"context_length_exceeded", "context_window_exceeded"})

OVERFLOW_TEXTS = (
    "context_length_exceeded",
    "maximum context length",
    "context window",
    "context length",
    "prompt is too long",
    "input is too long",
    "input token count exceeds",
    "exceeds the available context size",
    "input tokens exceed the configured limit",
    "too many tokens in the prompt",
)
"""What OpenAI, vLLM, llama.cpp, Anthropic, Bedrock, Gemini and LiteLLM say of a request that is too long."""

TRANSPORT_CLASSES = frozenset(
    {
        "APIConnectionError",  # openai, anthropic
        "TransportError",  # httpx
        "ClientConnectionError",  # aiohttp
        "ClientPayloadError",  # aiohttp
        "ConnectionClosedError",  # botocore
        "EndpointConnectionError",  # botocore
        "ReadTimeoutError",  # botocore, urllib3
    }
)
"""Names of the classes by which clients say that the connection failed."""

LONGEST_MESSAGE = 500
"""Characters of a provider's message that are kept."""


@dataclass(frozen=True)
class Failure:
    """A failed call of a model."""

    message: str
    """The provider's own words, in one line, with the HTTP status where there is one."""

    may_pass: bool
    """Whether another try may help."""

    overflow: bool = False
    """Whether the request was longer than the model takes."""

    retry_after: float | None = None
    """Seconds after which the provider asks to be tried again."""


def failure_of(error: Exception) -> Failure | None:
    """Judge an exception of a model call; None for one that is not the provider's or the network's doing."""
    if isinstance(error, ClewError):
        return None
    status, body = _status(error), _body(error)
    message = _message(error, status, body)
    if _is_overflow(error, status, body, message):
        return Failure(message, may_pass=False, overflow=True)
    if status is not None:
        passing = status in TRANSIENT_STATUSES or status >= 500
        return Failure(message, passing and _code(body) not in HOPELESS_CODES, retry_after=_retry_after(error))
    if isinstance(error, ProviderError):
        return Failure(message, error.is_retryable)
    if _is_transport(error) or _is_stream_error(error):
        return Failure(message, may_pass=True)
    return None


def _status(error: Exception) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "http_status"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 400 <= status < 600:
                return status
    return None


def _body(error: Exception) -> Mapping[str, Any]:
    body = getattr(error, "body", None)
    if isinstance(body, Mapping) and isinstance(body.get("error"), Mapping):
        body = body["error"]
    return body if isinstance(body, Mapping) else {}


def _code(body: Mapping[str, Any]) -> str:
    return str(body.get("code") or body.get("type") or "")


def _message(error: Exception, status: int | None, body: Mapping[str, Any]) -> str:
    said = body.get("message")
    text = said if isinstance(said, str) and said else str(error) or type(error).__name__
    line = " ".join(text.split())[:LONGEST_MESSAGE]
    return f"{line} (HTTP {status})" if status else line


def _is_overflow(error: Exception, status: int | None, body: Mapping[str, Any], message: str) -> bool:
    if isinstance(error, ContextOverflowError) or _code(body) in OVERFLOW_CODES:
        return True
    refused = status in {400, 413, 422} or (status is None and _is_stream_error(error))
    return refused and any(text in message.lower() for text in OVERFLOW_TEXTS)


def _is_transport(error: Exception) -> bool:
    if isinstance(error, ConnectionError | TimeoutError | json.JSONDecodeError):
        # Broken JSON is a body that was cut off, or a page of a proxy in the provider's place.
        return True
    return any(base.__name__ in TRANSPORT_CLASSES for base in type(error).__mro__)


def _is_stream_error(error: Exception) -> bool:
    """Whether the provider reported the failure inside a stream that had begun well."""
    return any(base.__name__ == "APIError" for base in type(error).__mro__)


def _retry_after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    return _seconds_until(value) if seconds is None and value else seconds


def _number(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())
