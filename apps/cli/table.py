"""Rows of text as columns."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print the rows below the names of their columns: a rich table on a terminal, else padded columns."""
    if sys.stdout.isatty():
        from rich.console import Console

        Console().print(rich_table(columns, rows))
    else:
        for line in table_lines(columns, rows):
            print(line)


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows below the names of their columns, two spaces between them; the last column is not padded."""
    table = [[" ".join(cell.split()) for cell in row] for row in [columns, *rows]]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]


def rich_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """The rows as a table for a rich console."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(*map(Text, row))
    return table
