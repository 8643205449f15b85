import pandas
import pytest

from clew.state.errors import ToolFailure
from clew.tools.charts.choice import choose_chart
from clew.tools.charts.insights import find_insights
from clew.tools.charts.request import ChartRequest
from clew.tools.charts.shape import MOST_POINTS, shape
from clew.tools.charts.table import column_kind, read_table

SALES = pandas.DataFrame(
    {
        "month": pandas.date_range("2024-01-01", periods=24, freq="MS"),
        "region": ["North", "South"] * 12,
        "sales": [10.0 + 3 * month for month in range(24)],
        "ad_spend": [5.0 + month for month in range(24)],
    }
)


def request(**fields):
    return ChartRequest(data_path="t.csv", title="T", **fields)


@pytest.mark.parametrize(
    ("question", "mark", "x", "y", "aggregate"),
    [
        ("How did sales develop?", "line", "month", "sales", "sum"),
        ("销售趋势 (sales)", "line", "month", "sales", "sum"),
        ("Average sales by region, compared", "bar", "region", "sales", "mean"),
        ("Which share of the sales has each region?", "arc", "region", "sales", "sum"),
        ("Does ad spend correlate with sales?", "point", "ad_spend", "sales", "sum"),
        ("Distribution of sales", "histogram", "sales", None, "count"),
        ("Heatmap of sales", "heatmap", "month", "sales", "sum"),
        ("How many rows has each region?", "bar", "region", None, "count"),
        ("", "line", "month", "sales", "sum"),
    ],
)
def test_the_chart_follows_the_words_of_the_question_and_its_columns(question, mark, x, y, aggregate):
    chart = choose_chart(SALES, question, "t.csv", "T")
    assert (chart.mark, chart.x, chart.y, chart.aggregate) == (mark, x, y, aggregate)


def test_groups_are_coloured_only_where_the_question_names_them():
    assert choose_chart(SALES, "Trend of sales", "t.csv", "T").color is None
    assert choose_chart(SALES, "Trend of sales per region", "t.csv", "T").color == "region"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "json", "jsonl"])
def test_every_format_gives_the_same_table(tmp_path, suffix):
    file = tmp_path / f"t.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        SALES.to_parquet(file)
    elif suffix.startswith("json"):
        SALES.to_json(file, orient="records", date_format="iso", lines=suffix == "jsonl")
    else:
        SALES.to_csv(file, index=False, sep="\t" if suffix == "tsv" else ",")
    table = read_table(file, file.name)
    assert [column_kind(table[name]) for name in table.columns] == [
        "temporal",
        "nominal",
        "quantitative",
        "quantitative",
    ]
    assert table["sales"].tolist() == SALES["sales"].tolist()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", "a", "none of"),
        ("a.csv", "a,b\n", "no rows"),
        ("a.json", "{", "cannot be read"),
        ("a.csv", "", "read"),
    ],
)
def test_what_is_no_table_is_refused_with_a_sentence(tmp_path, name, content, reason):
    (tmp_path / name).write_text(content)
    with pytest.raises(ToolFailure, match=reason):
        read_table(tmp_path / name, name)


def test_numbers_and_codes_are_no_dates():
    table = pandas.DataFrame({"zip": ["10115", "20095"], "year": [2023, 2024], "size": [1, 2]})
    assert [column_kind(table[name]) for name in table.columns] == ["nominal", "quantitative", "quantitative"]


def test_many_rows_become_few_points_and_nothing_is_lost_of_a_share():
    many = pandas.DataFrame({"name": [f"n{n % 20}" for n in range(9000)], "a": range(9000), "b": range(9000)})
    assert len(shape(many, request(mark="point", x="a", y="b"))) == MOST_POINTS
    slices = shape(many, request(mark="arc", x="name", y="a"))
    assert (len(slices), slices["x"].iloc[-1]) == (8, "Other")
    assert slices["y"].sum() == many["a"].sum()
    assert shape(many, request(mark="histogram", x="a"))["y"].sum() == 9000


def test_a_long_time_axis_is_put_together_and_keeps_its_sum():
    hours = pandas.DataFrame({"at": pandas.date_range("2024-01-01", periods=5000, freq="h"), "n": 1})
    shaped = shape(hours, request(mark="line", x="at", y="n"))
    assert len(shaped) == 209
    assert shaped["y"].sum() == 5000


@pytest.mark.parametrize(("column", "reason"), [("none", "no column 'none'"), ("region", "holds no numbers")])
def test_a_column_that_cannot_be_drawn_is_refused(column, reason):
    with pytest.raises(ToolFailure, match=reason):
        shape(SALES, request(mark="bar", x="region", y=column))


def found(table, language="en", **fields):
    return {insight.kind: insight for insight in find_insights(table, request(**fields), language)}


def test_a_trend_is_found_with_its_change():
    trend = found(SALES, mark="line", x="month", y="sales")["trend"]
    assert trend.values["slope"] == pytest.approx(3)
    assert trend.values["explained"] == pytest.approx(1)
    assert trend.text == "It rises from 10 (2024-01-01) to 79 (2025-12-01), by 690 %."


def test_an_outlier_is_found_on_a_rising_line_and_none_on_a_straight_one():
    assert "outlier" not in found(SALES, mark="line", x="month", y="sales")
    odd = SALES.assign(sales=SALES["sales"].where(SALES.index != 3, 500))
    assert found(odd, mark="line", x="month", y="sales")["outlier"].text == "2024-04-01 is an outlier with 500."


def test_shares_are_of_the_whole_also_where_bars_are_left_out():
    many = pandas.DataFrame({"name": [f"n{n}" for n in range(100)], "a": [1.0] * 99 + [99.0]})
    assert len(shape(many, request(mark="bar", x="name", y="a"))) == 30
    assert found(many, mark="bar", x="name", y="a")["share"].values["share"] == pytest.approx((99 + 2) / 198 * 100)


def test_a_mean_over_groups_is_the_mean_of_the_rows():
    rows = pandas.DataFrame({"k": ["a", "a", "a", "b"], "g": ["x", "x", "y", "x"], "v": [1.0, 1.0, 4.0, 3.0]})
    extremes = found(rows, mark="bar", x="k", y="v", color="g", aggregate="mean")["extreme"]
    assert extremes.values == {"highest": 3.0, "lowest": 2.0}


def test_a_correlation_has_its_sign_and_strength_in_both_languages():
    falling = SALES.assign(ad_spend=-SALES["ad_spend"])
    assert found(falling, mark="point", x="ad_spend", y="sales")["correlation"].text == (
        "ad_spend and sales have a strong negative correlation (r = -1)."
    )
    chinese = found(falling, "zh", mark="point", x="ad_spend", y="sales")["correlation"].text
    assert chinese.startswith("ad_spend与sales呈强负相关")
