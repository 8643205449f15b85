import base64
import io
import json
import re
from pathlib import Path

import pytest
from blockbuster import blockbuster_ctx
from langchain_tests.unit_tests import ToolsUnitTests
from PIL import Image, ImageChops

from clew.state.errors import ToolFailure
from clew.tools.charts.fonts import family_with
from clew.tools.data_visualization import DataVisualization
from clew.tools.visualization_preparation import VisualizationPreparation

TOOL = "data_visualization"

ROWS = "month,region,sales\n2024-01-01,</script><b>North,10\n2024-02-01,South,20\n2024-03-01,South,40\n"


@pytest.fixture
async def prepare(call):
    """Adds a chart of the table to the file of charts."""
    call.workspace.mkdir()
    (call.workspace / "t.csv").write_text(ROWS)
    tool = VisualizationPreparation(workspace=call.workspace)

    async def run(question="", **arguments):
        return await tool.ainvoke({"data_path": "t.csv", "question": question, **arguments})

    return run


async def test_a_question_becomes_a_picture_and_a_page_that_needs_no_network(call, prepare):
    said = await prepare("Share of sales by region")
    assert "Chart: arc, x = region, y = sales, sum" in said
    with blockbuster_ctx():
        answer = await call()
    text, image = answer.content
    assert "1. South makes up 85.7 % of the whole." in text["text"]
    [chart] = answer.artifact["charts"]
    png, svg, page = (call.workspace / name for name in chart["files"])
    assert Image.open(io.BytesIO(png.read_bytes())).width > 800
    assert png.read_bytes() == base64.b64decode(image["base64"])
    assert svg.read_text().startswith("<svg")
    html = page.read_text()
    assert re.findall(r"<(?:script|link)[^>]*(?:src|href)=", html) == []
    assert "<title>Share of sales by region</title>" in html


async def test_no_text_of_the_data_can_end_the_script_of_the_page(call, prepare):
    await prepare("Share of sales by region", chart_title="</script><i>")
    [chart] = (await call()).artifact["charts"]
    html = (call.workspace / chart["files"][2]).read_text()
    assert "<b>North" not in html
    assert "\\u003c/script>\\u003cb>North" in html
    assert "<i>" not in html.partition("<body>")[2]


async def test_chosen_insights_are_written_into_the_chart(call, prepare):
    await prepare("Sales over time")
    [plain] = (await call(output_type="png")).artifact["charts"]
    svg = call.workspace / plain["files"][1]
    assert [insight["kind"] for insight in plain["insights"]] == ["trend", "extreme"]
    assert "It rises" not in svg.read_text()
    await prepare(code_type="insight", insights=[1])
    await call(output_type="png", tool_type="insight")
    assert "It rises from 10" in svg.read_text()
    assert "The highest" not in svg.read_text()
    await prepare(code_type="insight", insights=[9])
    with pytest.raises(ToolFailure, match="no insight 9"):
        await call(tool_type="insight")


async def test_what_the_model_names_is_taken_as_it_says(prepare, call):
    await prepare("Sales over time", mark="bar", x="region", aggregate="mean")
    [chart] = json.loads((call.workspace / "charts.json").read_text())
    assert (chart["mark"], chart["x"], chart["aggregate"]) == ("bar", "region", "mean")


@pytest.mark.parametrize("mark", ["bar", "line", "point", "histogram", "heatmap"])
async def test_every_kind_of_chart_is_drawn(prepare, call, mark):
    (call.workspace / "t.csv").write_text("month,region,sales,cost\n2024-01-01,N,1,2\n2024-02-01,S,2,3\n")
    x, y = {"histogram": ("sales", None), "point": ("sales", "cost")}.get(mark, ("month", "sales"))
    await prepare("c", mark=mark, x=x, y=y, color="region" if mark == "heatmap" else None)
    [chart] = (await call(output_type="png")).artifact["charts"]
    with Image.open(call.workspace / chart["files"][0]) as picture:
        assert len(picture.convert("RGB").getcolors(2**24)) > 10


async def test_chinese_labels_without_a_font_are_asked_for_and_still_make_a_page(prepare, call, monkeypatch):
    monkeypatch.setattr("clew.tools.charts.fonts.FOLDERS", ())
    await prepare("Share of sales by region", chart_title="销售占比")
    with pytest.raises(ToolFailure, match="no font for it was found; install one"):
        await call(output_type="png", language="zh")
    answer = await call(language="zh")
    assert "South占总体的85.7%" in answer.content
    assert [name.rpartition(".")[2] for name in answer.artifact["charts"][0]["files"]] == ["html"]


@pytest.mark.needs("cjk-font")
async def test_chinese_labels_are_drawn_with_a_font_of_the_system(prepare, call):
    drawn = []
    for title in ("销售占比", "城市人口"):  # boxes in the place of characters would make the same picture
        (call.workspace / "charts.json").unlink(missing_ok=True)
        await prepare("Share of sales by region", chart_title=title)
        [chart] = (await call(output_type="png", language="zh")).artifact["charts"]
        drawn.append((call.workspace / chart["files"][0]).read_bytes())
    first, second = (Image.open(io.BytesIO(png)).convert("L") for png in drawn)
    assert first.size == second.size
    assert ImageChops.difference(first, second).getbbox() is not None


def test_a_font_is_known_by_what_it_can_draw(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    [file] = Path(matplotlib.get_data_path()).rglob("DejaVuSans.ttf")
    assert family_with(file, "A") == "DejaVu Sans"
    assert family_with(file, "中") is None
    (tmp_path / "a.ttf").write_text("no font")
    assert family_with(tmp_path / "a.ttf", "A") is None


async def test_without_the_extra_the_model_is_told_how_to_get_it(prepare, call, monkeypatch):
    await prepare("Sales over time")
    monkeypatch.setattr("clew.tools.visualization_preparation.find_spec", lambda name: None)
    with pytest.raises(ToolFailure, match=r"need the package 'altair'; install it with pip install 'clew\[charts\]'"):
        await call()


@pytest.mark.parametrize(
    ("content", "reason"), [("[]", "has 0 charts"), ("{}", "no list of charts"), (None, "no file")]
)
async def test_a_file_that_holds_no_charts_is_refused(prepare, call, content, reason):
    if content is not None:
        (call.workspace / "charts.json").write_text(content)
    with pytest.raises(ToolFailure, match=reason):
        await call()


class TestDataVisualizationUnit(ToolsUnitTests):
    tool_constructor = DataVisualization
    tool_invoke_params_example = {"output_type": "png", "language": "en"}  # noqa: RUF012 - the tests' own interface


class TestVisualizationPreparationUnit(ToolsUnitTests):
    tool_constructor = VisualizationPreparation
    tool_invoke_params_example = {"data_path": "t.csv", "question": "Trend?"}  # noqa: RUF012
