"""Exceptions of clients that are not installed here, by the shape that they have."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError, ModelAuthenticationError, ModelTimeoutError

from clew.models.failure import LONGEST_MESSAGE, Failure, failure_of
from clew.state.errors import UsageError


def error_class(name: str, *bases: type) -> type[Exception]:
    return type(name, bases or (Exception,), {})


def with_fields(**fields: Any) -> Exception:
    error = RuntimeError(fields.pop("text", "it failed"))
    for name, value in fields.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    "error",
    [
        with_fields(status_code=503),
        with_fields(response=SimpleNamespace(status_code=429, headers={})),
        with_fields(status=502),
        ModelTimeoutError("slow"),
        TimeoutError(),
        ConnectionResetError("reset"),
        error_class("ReadError", error_class("TransportError"))("broken"),
        error_class("ServerDisconnectedError", error_class("ClientConnectionError"))("gone"),
        json.JSONDecodeError("cut", "{", 1),
    ],
)
def test_a_failure_that_may_pass(error: Exception) -> None:
    failure = failure_of(error)
    assert failure is not None
    assert failure.may_pass


@pytest.mark.parametrize(
    "error",
    [with_fields(status_code=401), with_fields(response=SimpleNamespace(status_code=404)), ModelAuthenticationError()],
)
def test_a_failure_that_will_not_pass(error: Exception) -> None:
    failure = failure_of(error)
    assert failure is not None
    assert not failure.may_pass
    assert not failure.overflow


@pytest.mark.parametrize(
    "error",
    [
        ContextOverflowError("too long"),
        with_fields(status_code=400, body={"error": {"code": "context_length_exceeded", "message": "no"}}),
        with_fields(status_code=413, text="prompt is too long"),
        error_class("APIError")("Your input exceeds the context window of this model."),
    ],
)
def test_a_request_that_is_too_long(error: Exception) -> None:
    failure = failure_of(error)
    assert failure is not None
    assert failure.overflow
    assert not failure.may_pass


def test_a_server_error_that_speaks_of_the_context_window_is_no_overflow() -> None:
    failure = failure_of(with_fields(status_code=500, text="context window service down"))
    assert failure is not None
    assert failure.may_pass


@pytest.mark.parametrize("error", [ValueError("a bug"), UsageError("ours"), with_fields(status_code="200"), OSError()])
def test_what_is_not_the_providers_doing(error: Exception) -> None:
    assert failure_of(error) is None


def test_the_message_is_one_bounded_line_of_the_providers_words() -> None:
    failure = failure_of(with_fields(status_code=400, body={"message": "no\n" * 1000}))
    assert failure is not None
    assert failure.message.startswith("no no no")
    assert len(failure.message) <= LONGEST_MESSAGE + len(" (HTTP 400)")
    assert failure_of(TimeoutError()) == Failure("TimeoutError", may_pass=True)
