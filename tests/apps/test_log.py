from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.apps.log import LOGGER, REDACTED, log_event, logging_to, redactor, secret_values
from clew.state.errors import UsageError
from clew.state.notices import NudgeEvent
from clew.state.settings import Settings
from clew.state.stream import TokenEvent

LETTERS = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=8, max_size=40)
DATA = st.recursive(
    st.text() | st.integers() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(LETTERS, st.text(), st.text(), DATA)
def test_a_known_secret_never_comes_out(secret, before, after, data):
    line = redactor([secret])({"text": before + secret + after, "nested": [{"deep": [secret]}], "data": data})
    assert secret not in json.dumps(line["nested"])
    assert secret not in line["text"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("key sk-proj-abcdEFGH12345678 is set", "sk-proj-abcdEFGH12345678"),
        ("Authorization: Bearer abc.def-123456789", "abc.def-123456789"),
        ("postgresql://ann:hunter22@db/clew", "hunter22"),
        ("export T=ghp_0123456789abcdef", "ghp_0123456789abcdef"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ],
)
def test_texts_that_look_like_secrets_are_taken_out(text, secret):
    redacted = redactor()(text)
    assert secret not in redacted
    assert REDACTED in redacted


def test_values_under_secret_names_are_taken_out():
    data = {"api_key": "abc", "Authorization": "x", "password": "", "tokens": 12, "text": "hello"}
    assert redactor()(data) == {**data, "api_key": REDACTED, "Authorization": REDACTED}


def test_secrets_are_found_in_the_settings_and_the_environment():
    settings = Settings(llm={"api_key": "top-secret-1", "local": {"api_key": "top-secret-2", "model": "llama"}})
    environment = {"OPENAI_API_KEY": "top-secret-3", "HOME": "/home/ann", "SHORT_TOKEN": "abc"}
    assert secret_values(settings, environment) == {"top-secret-1", "top-secret-2", "top-secret-3"}


def test_every_secret_of_the_settings_is_found():
    settings = Settings.model_validate(
        {
            "search": {f"{name}_api_key": f"key-of-{name}" for name in ("tavily", "brave", "google")},
            "browser": {"proxy": {"server": "http://proxy.example", "username": "ann", "password": "key-of-proxy"}},
        }
    )
    assert secret_values(settings, {}) == {"key-of-tavily", "key-of-brave", "key-of-google", "key-of-proxy"}


def test_the_log_is_one_json_object_a_line_and_appends(tmp_path):
    settings = Settings(log=tmp_path / "deep" / "clew.log", llm={"api_key": "top-secret-1"})
    for text in ("try top-secret-1", "try again"):
        with logging_to(settings):
            log_event("t1", NudgeEvent(text=text))
            log_event("t1", TokenEvent(text="not logged"))
    first, second = map(json.loads, settings.log.read_text().splitlines())
    assert (first["thread"], first["event"], first["level"], first["text"]) == (
        "t1",
        "nudge",
        "info",
        f"try {REDACTED}",
    )
    assert second["text"] == "try again"


def test_warnings_and_errors_of_libraries_are_logged_too(tmp_path):
    settings = Settings(log=tmp_path / "clew.log")
    with logging_to(settings):
        try:
            raise OSError("no such host sk-abcdefgh12345678")
        except OSError:
            logging.getLogger("httpx").exception("call %s", "failed")
    (line,) = map(json.loads, settings.log.read_text().splitlines())
    assert (line["logger"], line["message"], line["level"]) == ("httpx", "call failed", "error")
    assert "no such host" in line["error"]
    assert "sk-abcdefgh" not in line["error"]


def test_without_a_log_nothing_is_listened_to():
    with logging_to(Settings()):
        assert not logging.getLogger(LOGGER).isEnabledFor(logging.INFO)


def test_a_log_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="CLEW_LOG"), logging_to(Settings(log=tmp_path / "file" / "clew.log")):
        pass
