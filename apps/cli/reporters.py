"""Which reporter shows a run."""

from __future__ import annotations

import sys

from .live import LiveReporter
from .report import JsonReporter, PlainReporter, Reporter


def make_reporter(*, json: bool) -> Reporter:
    """JSON lines where they are asked for, live output on a terminal, else plain lines."""
    if json:
        return JsonReporter()
    return LiveReporter() if sys.stdout.isatty() else PlainReporter()
