"""Pytest plugin: `@pytest.mark.needs("bwrap")` skips a test where that program is missing, and says how to get it."""

from __future__ import annotations

import pytest
from system_packages import PACKAGES, find_program


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"needs(program): skip without that program, one of {', '.join(PACKAGES)}")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for mark in item.iter_markers("needs"):
        for program in mark.args:
            if find_program(program) is None:
                pytest.skip(
                    f"{program} is missing; install the Debian package {PACKAGES[program]} or your system's own"
                )
