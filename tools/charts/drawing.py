"""Drawing: from shaped numbers to a chart, and from a chart to PNG, SVG and a page. All of it blocks."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .request import ChartRequest, Language
from .table import column_kind
from .wording import PHRASES

if TYPE_CHECKING:
    from pandas import DataFrame, Series  # type: ignore[import-untyped]

WIDTH, HEIGHT = 560, 340
"""Pixels of the plot."""

LEVEL_CHARACTERS = 90
"""Characters of the names along an axis that fit side by side."""

SCALE = 2.0
"""Pixels of the PNG for each of the plot."""

FONT = "sans-serif"

TYPES = {"quantitative": "Q", "temporal": "T", "nominal": "N"}

LESS_THAN = "\ufdd0"
"""Stands for `<` until the page is made: a character that no text may hold."""


def draw(shaped: DataFrame, chart: ChartRequest, language: Language, notes: Sequence[str], family: str | None) -> str:
    """Vega-Lite specification, as JSON, of the chart with `notes` below its title."""
    import altair

    title = altair.TitleParams(chart.title, subtitle=list(notes), anchor="start", subtitlePadding=6, offset=14)
    values = json.loads(shaped.to_json(orient="records", date_format="iso"))
    marks: dict[str, dict[str, Any]] = {
        "line": {"point": len(shaped) <= 60},
        "point": {"opacity": 0.6},
        "arc": {"innerRadius": 60},
    }
    mark: dict[str, Any] = {
        "type": {"histogram": "bar", "heatmap": "rect"}.get(chart.mark, chart.mark),
        **marks.get(chart.mark, {}),
    }
    drawn = altair.Chart(altair.InlineData(values), mark=altair.MarkDef(**mark, tooltip=True))
    drawn = drawn.encode(**_encoding(shaped, chart, language)).properties(title=title, width=WIDTH, height=HEIGHT)
    fonts = f"{family}, {FONT}" if family else FONT
    return str(drawn.configure(font=fonts, background="white", padding=16).to_json(indent=None))


def picture(specification: str, fonts: Path | None) -> tuple[bytes, str]:
    """PNG and SVG; `fonts` is a folder with a font that the system does not know."""
    import vl_convert

    if fonts is not None:
        vl_convert.register_font_directory(str(fonts))
    png: bytes = vl_convert.vegalite_to_png(specification, scale=SCALE)
    return png, vl_convert.vegalite_to_svg(specification)


def page(specification: str, title: str) -> str:
    """A page that shows the chart without any other file and without network."""
    import vl_convert

    # The text of the data stands in a script: no `<` of it may end that script.
    text: str = vl_convert.vegalite_to_html(specification.replace("<", LESS_THAN), bundle=True)
    return text.replace(LESS_THAN, "\\u003c").replace("<head>", f"<head>\n    <title>{html.escape(title)}</title>", 1)


def _encoding(shaped: DataFrame, chart: ChartRequest, language: Language) -> dict[str, Any]:
    import altair

    value = _value_title(chart, language)
    if chart.mark == "histogram":
        return {
            "x": altair.X("x:Q", bin="binned", title=chart.x),
            "x2": altair.X2("end"),
            "y": altair.Y("y:Q", title=PHRASES["count"][language]),
        }
    kind = TYPES[column_kind(shaped["x"])]
    if chart.mark == "arc":
        return {
            "theta": altair.Theta("y:Q", title=value, stack=True),
            "color": altair.Color("x:N", title=chart.x, sort=_order(shaped["x"])),
            "order": altair.Order("y:Q", sort="descending"),
        }
    if chart.mark == "heatmap":
        return {
            "x": altair.X("x:N", title=chart.x, sort=None, axis=_label_axis(shaped["x"])),
            "y": altair.Y("color:N", title=chart.color, sort=None),
            "color": altair.Color("y:Q", title=value),
        }
    return _cartesian(shaped, chart, kind, value)


def _cartesian(shaped: DataFrame, chart: ChartRequest, kind: str, value: str) -> dict[str, Any]:
    import altair

    free = chart.mark == "point"
    labels = {"sort": _order(shaped["x"]), "axis": _label_axis(shaped["x"])} if kind == "N" else {}
    x = altair.X(
        f"x:{kind}", title=chart.x, scale=altair.Scale(zero=not free) if kind == "Q" else altair.Undefined, **labels
    )
    y = altair.Y("y:Q", title=chart.y if free else value, scale=altair.Scale(zero=not free))
    encoding: dict[str, Any] = {"x": x, "y": y}
    if "color" in shaped:
        encoding["color"] = altair.Color("color:N", title=chart.color)
    if "color" in shaped and chart.mark == "bar" and kind == "N":
        encoding["xOffset"] = altair.XOffset("color:N")
    return encoding


def _label_axis(values: Series) -> Any:
    """Axis of names: level where they have room."""
    import altair

    level = sum(len(name) + 2 for name in _order(values)) <= LEVEL_CHARACTERS
    return altair.Axis(labelAngle=0 if level else -40, labelLimit=160)


def _order(values: Series) -> list[str]:
    return [str(value) for value in dict.fromkeys(values)]


def _value_title(chart: ChartRequest, language: Language) -> str:
    if chart.y is None or chart.aggregate == "count":
        return PHRASES["count"][language]
    return PHRASES["mean"][language].format(name=chart.y) if chart.aggregate == "mean" else chart.y
