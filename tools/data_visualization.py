"""`data_visualization`: draw the charts that were prepared, and say what their numbers show."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ..state.errors import ToolFailure
from .base import WorkspaceTool
from .charts.drawing import draw, page, picture
from .charts.fonts import find_font, needs_font
from .charts.insights import Insight, find_insights
from .charts.request import ChartRequest, Language, parse_requests
from .charts.shape import shape
from .charts.table import read_table
from .editor.history import write_atomically
from .image_blocks import Content, image_block, with_images
from .traits import Traits
from .visualization_preparation import CHARTS, require_charts
from .workspace import Workspace

FOLDER = "visualization"
"""Folder, in the workspace, of the drawn charts."""

FONT_FOLDER = "fonts"
"""Folder, in the workspace, where a font may be put."""

MOST_SHOWN = 5
"""Charts that are shown beside the text."""

MOST_CHARTS = 20
"""Charts of one call."""

FONT_ADVICE = (
    "The chart has Chinese, Japanese or Korean text and no font for it was found; install one (such as Debian's "
    f"fonts-noto-cjk), put a .ttf or .otf file into the workspace's folder {FONT_FOLDER}, or use English text."
)


class VisualizationArguments(BaseModel):
    """Arguments of `data_visualization`."""

    json_path: str = Field(CHARTS, description="File of charts that visualization_preparation made.")
    output_type: Literal["png", "html"] = Field(
        "html", description="`png` writes PNG and SVG; `html` writes an interactive page too, which needs no network."
    )
    tool_type: Literal["visualization", "insight"] = Field(
        "visualization", description="`insight` writes the insights into the chart, below its title."
    )
    language: Language = Field("en", description="Language of the insights and of labels that are not in the data.")


class DrawnChart(TypedDict):
    """One drawn chart. Plain JSON."""

    title: str
    """Its title."""

    files: list[str]
    """Its files, relative to the workspace."""

    insights: list[dict[str, Any]]
    """Its findings: `kind`, `text` and `values`."""


class VisualizationArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    charts: list[DrawnChart]
    """Each chart of the file, in order."""


@dataclass(frozen=True)
class _Drawing:
    chart: DrawnChart
    png: bytes | None


class DataVisualization(WorkspaceTool):
    """Draw charts as PNG, SVG and self-contained pages, with insights that are computed from the data."""

    name: str = "data_visualization"
    description: str = (
        "Draw the charts that visualization_preparation has put into a file, as PNG and SVG or interactive HTML, and "
        "list insights that are computed from the data: trends, outliers, correlations, shares."
    )
    args_schema: type[BaseModel] = VisualizationArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=True, risk="medium").metadata()

    async def _arun(self, config: RunnableConfig, **arguments: Any) -> tuple[Content, VisualizationArtifact]:
        return await asyncio.to_thread(self._visualize, config, VisualizationArguments(**arguments))

    def _visualize(
        self, config: RunnableConfig, arguments: VisualizationArguments
    ) -> tuple[Content, VisualizationArtifact]:
        require_charts()
        workspace = self._open_workspace(config)
        file = workspace.resolve(arguments.json_path)
        if not file.is_file():
            raise ToolFailure(f"There is no file {arguments.json_path}; make it with visualization_preparation.")
        charts = parse_requests(file.read_bytes(), arguments.json_path)
        if not 1 <= len(charts) <= MOST_CHARTS:
            raise ToolFailure(f"{arguments.json_path} has {len(charts)} charts; 1 to {MOST_CHARTS} are drawn at once.")
        drawings = [_draw(workspace, chart, place, arguments) for place, chart in enumerate(charts, 1)]
        text = "\n\n".join(_described(drawing.chart) for drawing in drawings)
        pictures = [image_block(drawing.png) for drawing in drawings if drawing.png is not None]
        artifact = VisualizationArtifact(charts=[drawing.chart for drawing in drawings])
        return with_images(text, pictures[:MOST_SHOWN]), artifact


def _draw(workspace: Workspace, chart: ChartRequest, place: int, arguments: VisualizationArguments) -> _Drawing:
    table = read_table(workspace.resolve(chart.data_path), chart.data_path)
    shaped = shape(table, chart, arguments.language)
    insights = find_insights(table, chart, arguments.language)
    notes = [insight.text for insight in _chosen(insights, chart)] if arguments.tool_type == "insight" else []
    specification = draw(shaped, chart, arguments.language, notes, None)
    font = None
    if needs_font(specification):
        font = find_font(workspace.resolve(FONT_FOLDER))
        if font is None and arguments.output_type == "png":
            raise ToolFailure(FONT_ADVICE)
        specification = draw(shaped, chart, arguments.language, notes, font[1] if font else None)
    contents: dict[str, bytes] = {}
    if font is not None or not needs_font(specification):
        png, svg = picture(specification, font[0].parent if font else None)
        contents = {".png": png, ".svg": svg.encode()}
    if arguments.output_type == "html":
        contents[".html"] = page(specification, chart.title).encode()
    files = _save(workspace, f"{place}-{_slug(chart.title)}", contents)
    found = [{"kind": each.kind, "text": each.text, "values": each.values} for each in insights]
    return _Drawing(DrawnChart(title=chart.title, files=files, insights=found), contents.get(".png"))


def _chosen(insights: list[Insight], chart: ChartRequest) -> list[Insight]:
    if chart.insights is None:
        return insights
    if wrong := [number for number in chart.insights if not 1 <= number <= len(insights)]:
        raise ToolFailure(f"There is no insight {wrong[0]} of {chart.title!r}; they are 1 to {len(insights)}.")
    return [insights[number - 1] for number in chart.insights]


def _save(workspace: Workspace, stem: str, contents: dict[str, bytes]) -> list[str]:
    names = []
    for suffix, content in contents.items():
        file = workspace.resolve(str(Path(FOLDER, stem + suffix)))
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, content)
        except OSError as error:
            raise ToolFailure(f"{workspace.name(file)}: {error.strerror or error}.") from error
        names.append(workspace.name(file))
    return names


def _slug(title: str) -> str:
    return re.sub(r"[^\w]+", "-", title.lower()).strip("-")[:40] or "chart"


def _described(chart: DrawnChart) -> str:
    findings = [f"{number}. {insight['text']}" for number, insight in enumerate(chart["insights"], 1)]
    picture_is_missing = not any(name.endswith(".png") for name in chart["files"])
    notes = [FONT_ADVICE] if picture_is_missing else []
    return "\n".join([chart["title"], *findings, *notes, f"[files written: {', '.join(chart['files'])}]"])
