"""`visualization_preparation`: choose charts for a question about a table, or the insights to write into one."""

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from ..state.errors import ToolFailure
from .base import WorkspaceTool
from .charts.choice import choose_chart
from .charts.request import REQUESTS, Aggregate, ChartRequest, Mark, parse_requests
from .charts.shape import shape
from .charts.table import column_kind, read_table
from .editor.history import write_atomically
from .text import require_text
from .traits import Traits
from .workspace import Workspace

CHARTS = "charts.json"
"""File of the charts where none is named."""

EXTRA_PACKAGES = ("altair", "vl_convert", "pandas")
"""Packages of the extra `charts`."""


class PreparationArguments(BaseModel):
    """Arguments of `visualization_preparation`."""

    code_type: Literal["visualization", "insight"] = Field(
        "visualization",
        description="`visualization` adds a chart to the file; `insight` notes which insights the last chart shows.",
    )
    json_path: str = Field(CHARTS, description="File of charts, relative to the workspace; made if it is not there.")
    data_path: str | None = Field(
        None, description="For `visualization`: table in the workspace (.csv, .tsv, .parquet, .json, .jsonl)."
    )
    question: str = Field("", description="What the chart shall answer. Name columns as they are called in the table.")
    chart_title: str | None = Field(None, description="Title of the chart; none takes the question.")
    mark: Mark | None = Field(None, description="Kind of chart; none chooses by question and columns.")
    x: str | None = Field(None, description="Column of the horizontal axis, or of an arc's slices; none chooses.")
    y: str | None = Field(None, description="Column of the values; none chooses.")
    color: str | None = Field(None, description="Column of groups, or of a heatmap's vertical axis; none chooses.")
    aggregate: Aggregate | None = Field(None, description="How values that fall together become one; none chooses.")
    insights: list[int] = Field(
        default_factory=list, description="For `insight`: numbers of insights, as data_visualization listed them."
    )


class PreparationArtifact(TypedDict):
    """What the caller learns beside the text. Plain JSON."""

    json_path: str
    """File of charts, relative to the workspace."""

    charts: list[dict[str, Any]]
    """All charts in it."""


class VisualizationPreparation(WorkspaceTool):
    """Make the file that data_visualization draws from. Nothing is drawn yet."""

    name: str = "visualization_preparation"
    description: str = (
        "Prepare a chart for data_visualization: look at a table's columns, choose the chart that answers a question "
        "about it, and add it to a file of charts. What you name (mark, x, y, color, aggregate) is taken as you say. "
        "With code_type `insight`, note which of the insights that were listed the last chart shall show."
    )
    args_schema: type[BaseModel] = PreparationArguments
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    metadata: dict[str, Any] | None = Traits(parallel=False, idempotent=False, risk="medium").metadata()

    async def _arun(self, config: RunnableConfig, **arguments: Any) -> tuple[str, PreparationArtifact]:
        return await asyncio.to_thread(self._prepare, config, PreparationArguments(**arguments))

    def _prepare(self, config: RunnableConfig, arguments: PreparationArguments) -> tuple[str, PreparationArtifact]:
        require_charts()
        workspace = self._open_workspace(config)
        file = workspace.resolve(arguments.json_path)
        charts = parse_requests(file.read_bytes(), arguments.json_path) if file.is_file() else []
        if arguments.code_type == "insight":
            text = _choose_insights(charts, arguments)
        else:
            chart, text = _choose(workspace, arguments)
            charts.append(chart)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, REQUESTS.dump_json(charts, indent=2))
        except OSError as error:
            raise ToolFailure(f"{arguments.json_path}: {error.strerror or error}.") from error
        name = workspace.name(file)
        return f"{text}\n[file written: {name}]", PreparationArtifact(
            json_path=name, charts=REQUESTS.dump_python(charts, mode="json")
        )


def require_charts() -> None:
    """Refuse where a package of the extra `charts` is missing.

    Raises:
        ToolFailure: it is.
    """
    for package in EXTRA_PACKAGES:
        if find_spec(package) is None:
            raise ToolFailure(f"Charts need the package {package!r}; install it with pip install 'clew[charts]'.")


def _choose(workspace: Workspace, arguments: PreparationArguments) -> tuple[ChartRequest, str]:
    if arguments.data_path is None:
        raise ToolFailure("`data_path` is missing; name the table to draw.")
    require_text(arguments.question, "question")
    table = read_table(workspace.resolve(arguments.data_path), arguments.data_path)
    title = arguments.chart_title or arguments.question or arguments.data_path
    chosen = choose_chart(table, arguments.question, arguments.data_path, title)
    said = arguments.model_dump(include={"mark", "x", "y", "color", "aggregate"}, exclude_none=True)
    chart = chosen.model_copy(update=said)
    shape(table, chart)
    columns = ", ".join(f"{name} ({column_kind(table[name])})" for name in table.columns)
    axes = ", ".join(f"{key} = {value}" for key in ("x", "y", "color") if (value := getattr(chart, key)) is not None)
    return (
        chart,
        f"{len(table)} rows; columns: {columns}\nChart: {chart.mark}, {axes}, {chart.aggregate}: {chart.title}",
    )


def _choose_insights(charts: list[ChartRequest], arguments: PreparationArguments) -> str:
    if not charts:
        raise ToolFailure(f"{arguments.json_path} has no chart yet; prepare one with code_type visualization.")
    charts[-1] = charts[-1].model_copy(update={"insights": arguments.insights})
    return f"The chart {charts[-1].title!r} will show the insights {arguments.insights}."
