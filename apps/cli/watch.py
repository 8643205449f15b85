"""A running thread on a terminal, drawn anew at each look."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from .plan_table import COLUMNS
from .table import rich_table


class Watch:
    """A part of the terminal that shows where a thread stands; it is gone afterwards."""

    def __init__(self) -> None:
        self._live = Live(transient=True, auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def show(self, standing: str, usage: str, plan: Sequence[Sequence[str]], said: Sequence[str]) -> None:
        """Show the status, what was used, the rows of the plan where there is one, and what was said last."""
        parts: list[RenderableType] = [Text(f"{standing} · {usage}", style="bold")]
        if plan:
            parts.append(rich_table(COLUMNS, plan))
        self._live.update(Group(*parts, *map(Text, said)), refresh=True)
