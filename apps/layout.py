"""Where the nodes and edges of a graph go on paper: layers from top to bottom (Sugiyama), without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import dist
from typing import Any, NamedTuple

from grandalf.graphs import Edge as GrandalfEdge  # type: ignore[import-untyped]
from grandalf.graphs import Graph as GrandalfGraph
from grandalf.graphs import Vertex
from grandalf.layouts import SugiyamaLayout  # type: ignore[import-untyped]
from grandalf.routing import EdgeViewer, route_with_lines  # type: ignore[import-untyped]
from langchain_core.runnables.graph import Graph

Point = tuple[float, float]


class Paper(NamedTuple):
    """Measures of a layout, in its own unit: points, or letters."""

    across: float
    """Empty paper between two boxes of a layer."""

    down: float
    """Empty paper between two layers."""

    apart: float
    """By how much each of the two ways between a pair of nodes bends away from the line between them."""


@dataclass(frozen=True)
class Box:
    """One node on paper."""

    name: str
    x: float
    """Centre, from the left."""

    y: float
    """Centre, from the top."""

    width: float
    height: float


@dataclass(frozen=True)
class Line:
    """One edge on paper, from its source to its target."""

    points: list[Point]
    conditional: bool


@dataclass(frozen=True)
class Layout:
    """A whole graph on paper, its left upper corner at (0, 0)."""

    boxes: list[Box]
    lines: list[Line]
    width: float
    height: float


class _View:
    def __init__(self, width: float, height: float) -> None:
        self.w, self.h = width, height
        self.xy: Point = (0.0, 0.0)


class _Vertex(Vertex):  # type: ignore[misc]
    # Grandalf walks through sets of vertices and edges; with these hashes it does so in the same order every time.
    def __init__(self, number: int, view: _View) -> None:
        super().__init__(number)
        self.view = view

    def __hash__(self) -> int:
        return int(self.data)


class _Edge(GrandalfEdge):  # type: ignore[misc]
    def __init__(self, number: int, source: _Vertex, target: _Vertex) -> None:
        super().__init__(source, target, data=number)
        self.view = EdgeViewer()

    def __hash__(self) -> int:
        return int(self.data)


def lay_out(graph: Graph, sizes: Mapping[str, tuple[float, float]], paper: Paper) -> Layout:
    """Place the nodes, whose boxes have the given sizes, and route the edges between them; the same every time.

    Raises:
        ValueError: a part of the graph hangs together with no other.
    """
    vertices = {name: _Vertex(number, _View(*sizes[name])) for number, name in enumerate(graph.nodes)}
    edges = [_Edge(number, vertices[edge.source], vertices[edge.target]) for number, edge in enumerate(graph.edges)]
    _place(list(vertices.values()), edges, paper)
    boxes = [Box(name, *vertex.view.xy, *sizes[name]) for name, vertex in vertices.items()]
    ways = {(edge.source, edge.target) for edge in graph.edges}
    lines = [
        Line(
            _aside(edge.view._pts, paper.apart) if (plan.target, plan.source) in ways else edge.view._pts,
            plan.conditional,
        )
        for plan, edge in zip(graph.edges, edges, strict=True)
    ]
    return _at_origin(boxes, lines)


def title(name: str) -> str:
    """A node's name as people read it."""
    return name.strip("_")


def _place(vertices: list[Any], edges: list[Any], paper: Paper) -> None:
    components = GrandalfGraph(vertices, edges).C
    if len(components) != 1:
        raise ValueError(f"the graph falls into {len(components)} parts: connect its nodes")
    sugiyama = SugiyamaLayout(components[0])
    sugiyama.xspace, sugiyama.yspace, sugiyama.route_edge = paper.across, paper.down, route_with_lines
    sugiyama.init_all(roots=vertices[:1])
    sugiyama.draw(10)


def _aside(points: list[Point], apart: float) -> list[Point]:
    """The points with those between the ends moved to the edge's own side, so that the way back is another line."""
    (x1, y1), (x2, y2) = points[0], points[-1]
    length = dist(points[0], points[-1]) or 1.0
    across, down = (y2 - y1) / length * apart, -(x2 - x1) / length * apart
    between = points[1:-1] or [((x1 + x2) / 2, (y1 + y2) / 2)]
    return [points[0], *((x + across, y + down) for x, y in between), points[-1]]


def _at_origin(boxes: list[Box], lines: list[Line]) -> Layout:
    xs = [x for line in lines for x, _ in line.points] + [b.x + s * b.width / 2 for b in boxes for s in (-1, 1)]
    ys = [y for line in lines for _, y in line.points] + [b.y + s * b.height / 2 for b in boxes for s in (-1, 1)]
    left, top = min(xs), min(ys)
    return Layout(
        [Box(box.name, box.x - left, box.y - top, box.width, box.height) for box in boxes],
        [Line([(x - left, y - top) for x, y in line.points], line.conditional) for line in lines],
        max(xs) - left,
        max(ys) - top,
    )
