from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from io import BytesIO
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.runnables.graph import Graph
from PIL import Image

from clew.apps.drawing_ascii import draw_ascii
from clew.apps.drawing_png import draw_png, smooth
from clew.apps.layout import Paper, lay_out
from clew.graphs import AgentSpec, create_agent

PAPER = Paper(across=20, down=20, apart=5)

SAME = """
import hashlib
from clew.graphs import create_agent
from clew.apps.drawing_ascii import draw_ascii
from clew.apps.drawing_png import draw_png, smooth
graph = create_agent("manus", tools=[]).get_graph(xray=True)
print(hashlib.sha256(draw_png(graph) + draw_ascii(graph).encode()).hexdigest(), end="")
"""


def digest(graph):
    return hashlib.sha256(draw_png(graph) + draw_ascii(graph).encode()).hexdigest()


def make_graph(names, edges):
    graph = Graph()
    nodes = {name: graph.add_node(lambda value: value, id=name) for name in names}
    for source, target, conditional in edges:
        graph.add_edge(nodes[source], nodes[target], conditional=conditional)
    return graph


@pytest.fixture
def agent_graph():
    return create_agent("manus", tools=[]).get_graph(xray=True)


@st.composite
def connected_graphs(draw):
    names = [f"n{number}" for number in range(draw(st.integers(2, 8)))]
    tree = [(names[draw(st.integers(0, place - 1))], names[place], False) for place in range(1, len(names))]
    more = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names), st.just(True)), max_size=8))
    seen = {(source, target) for source, target, _ in tree}
    extra = [edge for edge in dict.fromkeys(more) if edge[0] != edge[1] and edge[:2] not in seen]
    return make_graph(names, tree + extra)


@settings(max_examples=40)
@given(connected_graphs())
def test_no_two_boxes_overlap_and_all_is_on_the_paper(graph):
    layout = lay_out(graph, dict.fromkeys(graph.nodes, (40.0, 20.0)), PAPER)
    for one, other in combinations(layout.boxes, 2):
        assert abs(one.x - other.x) >= one.width or abs(one.y - other.y) >= one.height
    for x, y in [point for line in layout.lines for point in line.points]:
        assert -0.001 <= x <= layout.width + 0.001
        assert -0.001 <= y <= layout.height + 0.001


@settings(max_examples=20)
@given(connected_graphs())
def test_every_edge_ends_where_its_nodes_are(graph):
    layout = lay_out(graph, dict.fromkeys(graph.nodes, (40.0, 20.0)), PAPER)
    boxes = {box.name: box for box in layout.boxes}
    for edge, line in zip(graph.edges, layout.lines, strict=True):
        for name, (x, y) in ((edge.source, line.points[0]), (edge.target, line.points[-1])):
            assert abs(boxes[name].x - x) <= 20.001
            assert abs(boxes[name].y - y) <= 10.001


def test_a_graph_in_two_parts_is_refused():
    graph = make_graph(["a", "b"], [])
    with pytest.raises(ValueError, match="2 parts"):
        lay_out(graph, {"a": (1, 1), "b": (1, 1)}, PAPER)


def test_letters_show_every_node_and_where_it_leads(agent_graph):
    drawing, _, leads = draw_ascii(agent_graph).rpartition("\n\n")
    for name in agent_graph.nodes:
        assert f"| {name.strip('_')} |" in drawing
    assert drawing.isascii()
    assert "gate -> observe_recent_browser, terminate, think" in leads.splitlines()
    assert {"v", "^"} <= set(drawing)


def test_the_picture_has_a_box_for_every_node_and_nothing_at_its_rim(agent_graph):
    image = Image.open(BytesIO(draw_png(agent_graph))).convert("RGB")
    colours = {colour: count for count, colour in image.getcolors(1_000_000)}
    assert colours[(0xEE, 0xF1, 0xFB)] > 5 * 40 * 30  # five nodes
    assert colours[(0xD5, 0xDC, 0xF5)] > 2 * 40 * 30  # start and end
    rim = [image.getpixel((x, y)) for x in range(image.width) for y in (0, image.height - 1)]
    assert set(rim) == {(255, 255, 255)}


def test_a_graph_looks_the_same_in_another_process(agent_graph):
    environment = {**os.environ, "PYTHONHASHSEED": "1"}  # that of this process is random
    done = subprocess.run([sys.executable, "-c", SAME], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == digest(agent_graph)


def test_the_nodes_where_a_run_waits_stand_out(agent_graph):
    def colours(at):
        return Image.open(BytesIO(draw_png(agent_graph, at))).getcolors(1_000_000)

    here = (0xFF, 0xD9, 0x8A)
    assert here not in {colour for _, colour in colours([])}
    assert max(count for count, colour in colours(["confirm"]) if colour == here) > 1000


def test_no_line_leaves_the_paper():
    boss = AgentSpec(name="boss", delegates=["manus"])
    image = Image.open(BytesIO(draw_png(create_agent(boss, tools=[]).get_graph(xray=True)))).convert("RGB")
    width, height = image.size
    for edge in ((0, 0, width, 8), (0, height - 8, width, height), (0, 0, 8, height), (width - 8, 0, width, height)):
        assert image.crop(edge).getcolors() == [((edge[2] - edge[0]) * (edge[3] - edge[1]), (255, 255, 255))]


def test_a_curve_does_not_swing_out_between_a_long_span_and_a_short_one():
    path = list(smooth([(0.0, 0.0), (1000.0, 40.0), (1000.0, 80.0), (0.0, 120.0)]))
    assert path[0] == (0.0, 0.0)
    assert path[-1] == pytest.approx((0.0, 120.0))
    assert max(x for x, _ in path) < 1010
