from __future__ import annotations

import pytest

from clew.apps.cli.report import brief, plural, size_text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (135_000_000_000, "135.0 GB"),
        (10**18, "1000000.0 TB"),
    ],
)
def test_bytes_are_told_in_the_unit_that_fits(size, text):
    assert size_text(size) == text


def test_a_long_text_is_one_line_of_the_width():
    assert brief("a\n b\tc", 10) == "a b c"
    assert brief("word " * 10, 10) == "word word…"


def test_one_thing_is_singular():
    assert [plural(count, "step") for count in (0, 1, 2)] == ["0 steps", "1 step", "2 steps"]
