"""What the numbers of a chart say: trend, outliers, correlation, shares. Computed, never guessed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .request import ChartRequest, Language
from .shape import totals
from .wording import PHRASES, label, number

if TYPE_CHECKING:
    from pandas import DataFrame, Series  # type: ignore[import-untyped]

CLEAR_TREND = 0.3
"""Share of the variance that a line must explain to be called a trend."""

FENCE = 1.5
"""Interquartile ranges beyond the quartiles at which an outlier begins (Tukey, Exploratory Data Analysis, 1977)."""

FEWEST = 5
"""Values that outliers and correlations are looked for in."""

MOST_OUTLIERS = 3
"""Outliers that are named."""

STRENGTHS = ((0.7, "strong"), (0.4, "moderate"), (0.2, "weak"))
"""From which absolute correlation each word holds."""


@dataclass(frozen=True)
class Insight:
    """One finding."""

    kind: str
    """`trend`, `outlier`, `correlation`, `share` or `extreme`."""

    text: str
    """One sentence."""

    values: dict[str, float]
    """The numbers behind it."""


def find_insights(table: DataFrame, chart: ChartRequest, language: Language) -> list[Insight]:
    """All findings for a chart that has a shape, computed from all rows of its table."""
    if chart.mark == "point":
        assert chart.y is not None, "a point chart has a shape only with it"
        return list(_correlation(table[[chart.x, chart.y]].dropna(), language))
    if chart.mark == "histogram":
        return list(_spread(table[chart.x].dropna().astype(float), language))
    series = totals(table, chart)
    found: list[Insight] = []
    if chart.mark == "line":
        found += _trend(series, language)
    elif chart.aggregate != "mean":
        found += _shares(series, language)
    return [*found, *_extremes(series, language), *_outliers(series, language, detrended=chart.mark == "line")]


def _insight(kind: str, phrase: str, language: Language, values: dict[str, float], **words: Any) -> Insight:
    text = PHRASES[phrase][language].format(**{key: number(value) for key, value in values.items()}, **words)
    return Insight(kind, text, values)


def _trend(series: Series, language: Language) -> Iterator[Insight]:
    import numpy

    if len(series) < 3:
        return
    places = numpy.arange(len(series))
    slope, start = numpy.polyfit(places, series.to_numpy(dtype=float), 1)
    total = float(((series - series.mean()) ** 2).sum())
    explained = 1 - float(((series - (start + slope * places)) ** 2).sum()) / total if total else 0.0
    first, last = float(series.iloc[0]), float(series.iloc[-1])
    change = (last - first) / abs(first) * 100 if first else float("nan")
    values = {"slope": float(slope), "first": first, "last": last, "change": change, "explained": explained}
    phrase = "no_trend" if explained < CLEAR_TREND else "rising" if slope > 0 else "falling"
    yield _insight("trend", phrase, language, values, begin=label(series.index[0]), end=label(series.index[-1]))


def _shares(series: Series, language: Language) -> Iterator[Insight]:
    total = float(series.sum())
    if len(series) < 2 or total <= 0 or (series < 0).any():
        return
    ordered = series.sort_values(ascending=False, kind="stable")
    share = float(ordered.iloc[0]) / total * 100
    yield _insight("share", "share", language, {"share": share}, name=label(ordered.index[0]))
    if len(ordered) > 4:
        together = float(ordered.iloc[:3].sum()) / total * 100
        yield _insight("share", "top_three", language, {"share": together})


def _extremes(series: Series, language: Language) -> Iterator[Insight]:
    if len(series) < 2 or series.nunique() < 2:
        return
    values = {"highest": float(series.max()), "lowest": float(series.min())}
    yield _insight("extreme", "extremes", language, values, high=label(series.idxmax()), low=label(series.idxmin()))


def _outliers(series: Series, language: Language, *, detrended: bool) -> Iterator[Insight]:
    import numpy

    if len(series) < FEWEST:
        return
    numbers = series.to_numpy(dtype=float)
    if detrended:
        places = numpy.arange(len(numbers))
        numbers = numbers - numpy.polyval(numpy.polyfit(places, numbers, 1), places)
    outside = _outside(numbers)
    for place in sorted(numpy.flatnonzero(outside), key=lambda place: -abs(numbers[place]))[:MOST_OUTLIERS]:
        value = float(series.iloc[place])
        yield _insight("outlier", "outlier", language, {"value": value}, name=label(series.index[place]))


def _spread(values: Series, language: Language) -> Iterator[Insight]:
    found = {
        "median": float(values.median()),
        "low": float(values.quantile(0.25)),
        "high": float(values.quantile(0.75)),
    }
    yield _insight("spread", "spread", language, found)
    if len(values) >= FEWEST and (count := int(_outside(values.to_numpy()).sum())):
        yield _insight("outlier", "outliers", language, {"count": count, "share": count / len(values) * 100})


def _correlation(pairs: DataFrame, language: Language) -> Iterator[Insight]:
    x, y = pairs.columns[0], pairs.columns[-1]
    if len(pairs) < FEWEST or pairs[x].nunique() < 2 or pairs[y].nunique() < 2:
        return
    coefficient = float(pairs[x].corr(pairs[y]))
    strength = next((word for least, word in STRENGTHS if abs(coefficient) >= least), "none")
    sign = "positive" if coefficient > 0 else "negative"
    phrase = "no_correlation" if strength == "none" else "correlation"
    words = {"strength": PHRASES[strength][language], "sign": PHRASES[sign][language]}
    yield _insight("correlation", phrase, language, {"coefficient": coefficient}, x=x, y=y, **words)


def _outside(numbers: Any) -> Any:
    """Which numbers lie beyond the fences."""
    import numpy

    low, high = numpy.percentile(numbers, [25, 75])
    room = FENCE * (high - low)
    # Of constant numbers with rounding errors none is an outlier.
    room = max(room, 1e-9 * float(numpy.abs(numbers).max()))
    return (numbers < low - room) | (numbers > high + room)
