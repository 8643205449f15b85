"""The few numbers that a chart shows, from the many rows of its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...state.errors import ToolFailure
from .request import ChartRequest
from .table import column_kind
from .wording import label

if TYPE_CHECKING:
    from pandas import DataFrame, Series  # type: ignore[import-untyped]

MOST_POINTS = 5000
"""Points of a scatter plot; of more rows a sample is drawn, always the same."""

MOST_MOMENTS = 400
"""Moments on a time axis; more are put together by hour, day, week, month or year."""

MOST_PERIODS = 60
"""Moments along the axis of other charts."""

MOST_BARS = 30
"""Bars; the smallest of more are left out."""

MOST_SLICES = 8
"""Slices; the smallest of more are put together."""

BINS = 30
"""Bins of a histogram at most."""

OTHER = {"en": "Other", "zh": "其他"}
"""Name of the slice that holds the rest."""


def shape(table: DataFrame, chart: ChartRequest, language: str = "en") -> DataFrame:
    """Columns `x`, `y` and, where groups are asked for, `color`; of a histogram `x`, `end` and `y`.

    Raises:
        ToolFailure: a column is missing or holds no numbers.
    """
    _check(table, chart)
    if chart.mark == "histogram":
        return _histogram(table, chart)
    rows = _rows(table, chart)
    if chart.mark == "point":
        return rows if len(rows) <= MOST_POINTS else rows.sample(MOST_POINTS, random_state=0)
    shaped = _aggregated(rows, chart)
    if chart.mark == "heatmap":
        return shaped.assign(**{key: shaped[key].map(label) for key in ("x", "color") if key in shaped})
    if chart.mark == "arc":
        return _sliced(shaped, OTHER[language])
    if chart.mark == "bar" and column_kind(shaped["x"]) == "nominal":
        order = shaped.groupby("x")["y"].sum().sort_values(ascending=False).index[:MOST_BARS]
        return shaped[shaped["x"].isin(order)].sort_values("y", ascending=False, kind="stable").reset_index(drop=True)
    return shaped


def totals(table: DataFrame, chart: ChartRequest) -> Series:
    """The value of each `x`, of all groups together and with nothing left out."""
    whole = chart.model_copy(update={"color": None})
    return _aggregated(_rows(table, whole), whole).set_index("x")["y"]


def _rows(table: DataFrame, chart: ChartRequest) -> DataFrame:
    """The rows without gaps, their columns by what they are for."""
    columns = {key: column for key, column in (("x", chart.x), ("y", chart.y), ("color", chart.color)) if column}
    rows = table[[*dict.fromkeys(columns.values())]].dropna()
    if rows.empty:
        raise ToolFailure(f"{chart.data_path} has no row with all of {', '.join(columns.values())}; choose others.")
    rows = rows.assign(**{key: rows[column] for key, column in columns.items()})[[*columns]]
    if chart.mark == "point":
        return rows
    dates = [key for key in columns if key != "y" and column_kind(rows[key]) == "temporal"]
    return rows.assign(**{key: _coarser(rows[key], chart) for key in dates})


def _check(table: DataFrame, chart: ChartRequest) -> None:
    for column in (chart.x, chart.y, chart.color):
        if column is not None and column not in table.columns:
            raise ToolFailure(
                f"{chart.data_path} has no column {column!r}; its columns are {', '.join(table.columns)}."
            )
    numeric = [chart.y, *([chart.x] if chart.mark in ("point", "histogram") else [])]
    for column in numeric:
        if column is not None and column_kind(table[column]) != "quantitative":
            raise ToolFailure(f"The column {column!r} holds no numbers; choose another for a {chart.mark} chart.")
    if chart.mark == "heatmap" and chart.color is None:
        raise ToolFailure("A heatmap needs `color` for its vertical axis; name a column.")
    if chart.mark == "point" and chart.y is None:
        raise ToolFailure("A point chart needs `y`; name a column of numbers.")


def _aggregated(rows: DataFrame, chart: ChartRequest) -> DataFrame:
    keys = ["x", *(["color"] if chart.color else [])]
    groups = rows.groupby(keys, sort=True, observed=True)
    if chart.y is None or chart.aggregate == "count":
        return groups.size().reset_index(name="y")
    return groups["y"].agg(chart.aggregate).reset_index()


def _coarser(values: Series, chart: ChartRequest) -> Series:
    moments = values.dt.tz_localize(None)
    most = MOST_MOMENTS if chart.mark == "line" else MOST_PERIODS
    if moments.nunique() <= most:
        return moments
    for unit in ("h", "D", "W", "M", "Y"):
        periods = moments.dt.to_period(unit)
        if periods.nunique() <= most:
            break
    return periods.dt.start_time


def _sliced(shaped: DataFrame, other: str) -> DataFrame:
    import pandas

    if (shaped["y"] < 0).any():
        raise ToolFailure("A share of a negative value cannot be drawn; choose a bar chart.")
    ordered = shaped.sort_values("y", ascending=False, kind="stable").reset_index(drop=True)
    if len(ordered) <= MOST_SLICES:
        return ordered
    rest = pandas.DataFrame({"x": [other], "y": [ordered["y"][MOST_SLICES - 1 :].sum()]})
    return pandas.concat([ordered[["x", "y"]].head(MOST_SLICES - 1), rest], ignore_index=True)


def _histogram(table: DataFrame, chart: ChartRequest) -> DataFrame:
    import numpy
    import pandas

    values = table[chart.x].astype(float)
    values = values[numpy.isfinite(values)]
    if values.empty:
        raise ToolFailure(f"The column {chart.x!r} holds no numbers; choose another.")
    edges = numpy.histogram_bin_edges(values, bins="auto")
    if len(edges) > BINS + 1:
        edges = numpy.histogram_bin_edges(values, bins=BINS)
    counts, _ = numpy.histogram(values, bins=edges)
    return pandas.DataFrame({"x": edges[:-1], "end": edges[1:], "y": counts})
