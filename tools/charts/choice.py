"""Which chart answers a question about a table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...state.errors import ToolFailure
from .request import Aggregate, ChartRequest, Mark
from .table import ColumnKind, column_kind

if TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]

MARK_WORDS: dict[Mark, str] = {
    "heatmap": r"heat ?map|热力",
    "point": r"correlat|relation|versus|\bvs\b|depend|scatter|相关|关系|散点",
    "histogram": r"distribut|histogram|spread|分布|直方",
    "arc": r"share|proportion|percent|composition|\bpie\b|占比|比例|份额|构成|饼图",
    "line": r"trend|over time|develop|evol|grow|per (day|week|month|year)|趋势|变化|增长|走势",
    "bar": r"compar|rank|\btop\b|most|least|highest|lowest|\bbar\b|比较|对比|排名|最",
}
"""Words of a question that ask for a chart; the first that match win."""

MEAN_WORDS = r"average|mean|typical|平均"
COUNT_WORDS = r"how many|number of|count|多少|数量|个数"

MOST_GROUPS = 10
"""Groups that colours can still tell apart."""


def choose_chart(table: DataFrame, question: str, data_path: str, title: str) -> ChartRequest:
    """The chart for a question: by its words and the columns that it names, else by what the columns hold.

    Raises:
        ToolFailure: the table has no column to draw.
    """
    kinds = {name: column_kind(table[name]) for name in table.columns}
    asked = mentioned(kinds, question)
    numbers, dates, names = (_of(kinds, asked, kind) for kind in ("quantitative", "temporal", "nominal"))
    names = [name for name in names if name in asked or table[name].nunique() <= max(30, len(table) // 2)] or names
    # A name that is asked for weighs more than a date that merely is there.
    by_name = bool(names) and names[0] in asked and not (dates and dates[0] in asked)
    mark = _mark(question, numbers, dates, names, ("bar", "line") if by_name else ("line", "bar"))
    x, y, color = _axes(mark, numbers, dates, names)
    if x is None:
        raise ToolFailure(f"{data_path} has no column for a {mark} chart; ask for another, or add columns.")
    if color is not None and mark != "heatmap" and (color not in asked or table[color].nunique() > MOST_GROUPS):
        color = None
    counted = y is None or (re.search(COUNT_WORDS, question, re.IGNORECASE) and y not in asked)
    aggregate: Aggregate = "count" if counted else "mean" if re.search(MEAN_WORDS, question, re.I) else "sum"
    return ChartRequest(
        data_path=data_path,
        title=title,
        mark=mark,
        x=x,
        y=None if counted and mark != "point" else y,
        color=color,
        aggregate=aggregate,
        insights=None,
    )


def mentioned(columns: Sequence[str] | Mapping[str, ColumnKind], question: str) -> list[str]:
    """Columns that the question names, also in the plural or with other separators, as they come in it."""
    text = _plain(question)
    places = {name: text.find(_plain(name)) for name in columns}
    return sorted((name for name, place in places.items() if place >= 0), key=lambda name: places[name])


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]+", " ", text.lower()).strip()


def _of(kinds: Mapping[str, ColumnKind], asked: Sequence[str], kind: ColumnKind) -> list[str]:
    """Columns of a kind, those that are asked for first."""
    return [name for name in dict.fromkeys([*asked, *kinds]) if kinds[name] == kind]


def _mark(question: str, numbers: list[str], dates: list[str], names: list[str], usual: tuple[Mark, ...]) -> Mark:
    possible: dict[Mark, bool] = {
        "heatmap": len(names) + len(dates) > 1,
        "point": len(numbers) > 1,
        "histogram": bool(numbers),
        "arc": bool(names),
        "line": bool(dates),
        "bar": bool(names or dates),
    }
    for mark, words in MARK_WORDS.items():
        if possible[mark] and re.search(words, question, re.IGNORECASE):
            return mark
    return next((mark for mark in (*usual, "point", "histogram") if possible[mark]), "bar")


def _axes(
    mark: Mark, numbers: list[str], dates: list[str], names: list[str]
) -> tuple[str | None, str | None, str | None]:
    number, date, name = (next(iter(columns), None) for columns in (numbers, dates, names))
    if mark == "point":
        return numbers[0], numbers[1], name
    if mark == "histogram":
        return number, None, None
    if mark == "line":
        return date, number, name
    labels = [*dates, *names] if mark == "heatmap" else [*names, *dates]
    second = labels[1] if len(labels) > 1 else None
    if mark == "arc":
        return name, number, None
    return next(iter(labels), None), number, second
