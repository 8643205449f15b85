"""`clew demo`: a real task with a scripted model."""

from __future__ import annotations

from argparse import Namespace

from ..demo.show import run as show_demo


def run(arguments: Namespace) -> int:
    """Show the demo and return its exit code."""
    return show_demo(arguments.workspace)
