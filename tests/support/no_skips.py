"""Pytest plugin: under `CI=true` a skipped test fails, with the reason of its skip."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


def on_ci() -> bool:
    """Whether the tests run where everything that they need must be there."""
    return os.environ.get("CI", "").lower() in {"1", "true"}


def turn_into_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Make a skip a failure; an expected failure stays what it is."""
    if report.skipped and not hasattr(report, "wasxfail") and on_ci():
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI=true forbids: {reason}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    turn_into_failure(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    turn_into_failure(report)
    return report
