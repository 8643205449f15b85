"""Reading tables, and what their columns hold. All of it blocks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...state.errors import ToolFailure

if TYPE_CHECKING:
    from pandas import DataFrame, Series  # type: ignore[import-untyped]

ColumnKind = Literal["quantitative", "temporal", "nominal"]

MOST_BYTES = 200_000_000
"""Size of a file that is read."""

SUFFIXES = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
"""Files that are read: JSON as a list of objects, `.jsonl` as one object a line."""

DATE_SHARE = 0.9
"""Share of a column's values that must be dates for it to count as temporal."""

SAMPLE = 200
"""Values that are looked at to tell dates from other text."""


def read_table(file: Path, name: str) -> DataFrame:
    """The table in a file, with dates as dates; `name` is the file's in errors.

    Raises:
        ToolFailure: it is missing, too large, of another format, malformed or empty; or a package is missing.
    """
    if not file.is_file():
        raise ToolFailure(f"There is no file {name}; give a table in the workspace.")
    if file.suffix.lower() not in SUFFIXES:
        raise ToolFailure(f"{name} is none of {', '.join(SUFFIXES)}; convert it with python_execute.")
    if (size := file.stat().st_size) > MOST_BYTES:
        raise ToolFailure(f"{name} has {size} bytes, more than {MOST_BYTES}; aggregate it with python_execute first.")
    try:
        table = _read(file)
    except ImportError as error:
        raise ToolFailure(f"{name} needs the package pyarrow; install it, or convert the file to CSV.") from error
    except (ValueError, OSError, AttributeError) as error:  # pandas' errors of parsing are ValueErrors
        raise ToolFailure(f"{name} cannot be read as a table ({error}); write it anew.") from error
    if table.empty:
        raise ToolFailure(f"{name} has no rows; write some.")
    table.columns = [str(column) for column in table.columns]
    return table.apply(_with_dates)


def column_kind(values: Series) -> ColumnKind:
    """What a column holds; numbers in a column named like a year are dates."""
    from pandas.api.types import is_bool_dtype, is_datetime64_any_dtype, is_numeric_dtype  # type: ignore[import-untyped]

    if is_datetime64_any_dtype(values):
        return "temporal"
    return "quantitative" if is_numeric_dtype(values) and not is_bool_dtype(values) else "nominal"


def _read(file: Path) -> DataFrame:
    import pandas

    suffix = file.suffix.lower()
    if suffix == ".parquet":
        return pandas.read_parquet(file, engine="pyarrow")
    if suffix in (".json", ".jsonl"):
        return pandas.read_json(file, lines=suffix == ".jsonl")
    return pandas.read_csv(file, sep="\t" if suffix == ".tsv" else ",")


def _with_dates(values: Series) -> Series:
    import pandas

    if str(values.name).lower() in ("year", "年", "年份") and pandas.api.types.is_integer_dtype(values):
        return pandas.to_datetime(values.astype(str), format="%Y", errors="coerce")
    if column_kind(values) != "nominal" or pandas.api.types.is_bool_dtype(values):
        return values
    sample = values.dropna().astype(str).head(SAMPLE)
    # A bare number or word is no date, whatever a lenient parser makes of it.
    if sample.empty or sample.str.contains(r"\d{4}[-/.年]\d|\d[-/.]\d+[-/.]\d{4}").mean() < DATE_SHARE:
        return values
    dates = pandas.to_datetime(values, errors="coerce", format="mixed")
    return dates if dates.notna().sum() >= DATE_SHARE * values.notna().sum() else values
