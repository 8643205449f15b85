"""A graph drawn in letters, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import floor

from langchain_core.runnables.graph import Graph

from .layout import Box, Line, Paper, Point, lay_out, title

PAPER = Paper(across=6, down=4, apart=4)
"""In letters."""

SOLID, DASHED = "*", "."
"""An edge that is always taken, and one that its source decides on."""


def draw_ascii(graph: Graph) -> str:
    """The graph in letters, and below it where each node leads.

    Raises:
        ValueError: a part of the graph hangs together with no other.
    """
    layout = lay_out(graph, {name: (len(title(name)) + 4.0, 3.0) for name in graph.nodes}, PAPER)
    canvas = _Canvas(round(layout.width) + 2, round(layout.height) + 2)
    for box in layout.boxes:
        canvas.box(box)
    for line in layout.lines:
        canvas.line(line)
    for line in layout.lines:
        canvas.arrow(line)
    return f"{canvas}\n\n{_leads(graph)}"


def _leads(graph: Graph) -> str:
    targets: dict[str, list[str]] = {}
    for edge in graph.edges:
        targets.setdefault(edge.source, []).append(title(edge.target))
    return "\n".join(f"{title(source)} -> {', '.join(targets[source])}" for source in graph.nodes if source in targets)


class _Canvas:
    def __init__(self, width: int, height: int) -> None:
        self._rows = [[" "] * width for _ in range(height)]
        self._boxed: set[tuple[int, int]] = set()

    def __str__(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self._rows).rstrip()

    def box(self, box: Box) -> None:
        left, top = _cell((box.x - box.width / 2, box.y - box.height / 2))
        text = title(box.name)
        edge = f"+{'-' * (len(text) + 2)}+"
        for row, line in enumerate([edge, f"| {text} |", edge], top):
            self._rows[row][left : left + len(line)] = line
            self._boxed.update((left + column, row) for column in range(len(line)))

    def line(self, line: Line) -> None:
        for x, y in self._free_cells(line.points):
            self._rows[y][x] = DASHED if line.conditional else SOLID

    def arrow(self, line: Line) -> None:
        (x1, y1), (x2, y2) = line.points[-2:]
        across, down = x2 - x1, y2 - y1
        for x, y in self._free_cells([line.points[-1], line.points[-2]]):
            flat = abs(across) > 2 * abs(down)
            self._rows[y][x] = (">" if across > 0 else "<") if flat else ("v" if down > 0 else "^")
            return

    def _free_cells(self, points: list[Point]) -> Iterator[tuple[int, int]]:
        for start, end in pairwise(points):
            steps = max(1, round(max(abs(end[0] - start[0]), abs(end[1] - start[1]))))
            for step in range(steps + 1):
                part = step / steps
                x, y = _cell((start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part))
                if (x, y) not in self._boxed and 0 <= y < len(self._rows) and 0 <= x < len(self._rows[y]):
                    yield x, y


def _cell(point: Point) -> tuple[int, int]:
    return floor(point[0] + 0.5), floor(point[1] + 0.5)
