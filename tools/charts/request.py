"""What is to be drawn: the file that passes from the preparation to the drawing."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ...state.errors import ToolFailure

Mark = Literal["bar", "line", "point", "histogram", "arc", "heatmap"]
Aggregate = Literal["sum", "mean", "count"]
Language = Literal["zh", "en"]


class ChartRequest(BaseModel):
    """One chart."""

    model_config = ConfigDict(extra="forbid")

    data_path: str = Field(description="Table, relative to the workspace.")
    title: str = Field(description="Title of the chart.")
    mark: Mark = Field(description="Kind of chart.")
    x: str = Field(description="Column of the horizontal axis; of the slices of an `arc`.")
    y: str | None = Field(None, description="Column of the values; none where rows are counted.")
    color: str | None = Field(None, description="Column of the groups; of the vertical axis of a `heatmap`.")
    aggregate: Aggregate = Field("sum", description="How the values that fall together become one.")
    insights: list[int] | None = Field(None, description="Numbers, from 1, of the insights to write; none for all.")


REQUESTS: TypeAdapter[list[ChartRequest]] = TypeAdapter(list[ChartRequest])
"""Content of the file."""


def parse_requests(content: bytes, name: str) -> list[ChartRequest]:
    """Read the file.

    Raises:
        ToolFailure: it is malformed.
    """
    try:
        return REQUESTS.validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise ToolFailure(
            f"{name} is no list of charts ({place}: {first['msg']}); make it with visualization_preparation."
        ) from error
