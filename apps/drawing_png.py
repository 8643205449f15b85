"""A picture of a graph, drawn here: no browser, no service, no font of the system."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from io import BytesIO
from itertools import pairwise
from math import atan2, cos, dist, hypot, pi, sin

from langchain_core.runnables.graph import Graph
from PIL import Image, ImageDraw, ImageFont

from .layout import Box, Layout, Paper, Point, lay_out, title

SCALE = 2
"""Pixels of the picture for one point of the layout."""

SMOOTH = 2
"""Pixels drawn for one pixel of the picture, along each side; the rest is averaged away."""

MARGIN, PADDING, FONT_SIZE, BOX_HEIGHT = 24.0, 16.0, 15.0, 36.0
"""In points: paper around the graph, paper beside a name in its box, size of the letters, height of a box."""

DASH, ARROW = 6.0, 9.0
"""In points: length of a dash and of a gap in a conditional edge, length of an arrow head."""

PAPER = Paper(across=44, down=52, apart=14)
"""In points: empty paper between boxes and layers, and how far the two ways between a pair of nodes bend apart."""

WHITE, INK, EDGE, FILL, ENDS, HERE = "#ffffff", "#1f2430", "#5b6472", "#eef1fb", "#d5dcf5", "#ffd98a"


def draw_png(graph: Graph, at: Collection[str] = ()) -> bytes:
    """The graph as a PNG: a solid edge is always taken, a dashed one where the source decides so.

    Args:
        graph: What is drawn.
        at: Nodes that stand out, such as those where a run waits.

    Raises:
        ValueError: a part of the graph hangs together with no other.
    """
    measure = ImageFont.load_default(FONT_SIZE)
    sizes = {name: (measure.getlength(title(name)) + 2 * PADDING, BOX_HEIGHT) for name in graph.nodes}
    picture = _Picture(lay_out(graph, sizes, PAPER), at)
    buffer = BytesIO()
    picture.render().save(buffer, "PNG", optimize=True)
    return buffer.getvalue()


class _Picture:
    def __init__(self, layout: Layout, at: Collection[str]) -> None:
        self._layout = layout
        self._at = at
        self._zoom = SCALE * SMOOTH
        self._paths = [(list(smooth(line.points)), line.conditional) for line in layout.lines]
        # A curve swings a little beyond the points that it goes through.
        xs, ys = ([point[axis] for path, _ in self._paths for point in path] for axis in (0, 1))
        self._left, self._top = min([0.0, *xs]), min([0.0, *ys])
        sides = max([layout.width, *xs]) - self._left, max([layout.height, *ys]) - self._top
        size = tuple(round((side + 2 * MARGIN) * self._zoom) for side in sides)
        self._image = Image.new("RGB", (size[0], size[1]), WHITE)
        self._draw = ImageDraw.Draw(self._image)
        self._font = ImageFont.load_default(FONT_SIZE * self._zoom)

    def render(self) -> Image.Image:
        for path, conditional in self._paths:
            self._line(path, conditional)
        for box in self._layout.boxes:
            self._box(box)
        width, height = self._image.size
        return self._image.resize((width // SMOOTH, height // SMOOTH), Image.Resampling.LANCZOS)

    def _pixel(self, point: Point) -> Point:
        return ((point[0] - self._left + MARGIN) * self._zoom, (point[1] - self._top + MARGIN) * self._zoom)

    def _box(self, box: Box) -> None:
        upper = self._pixel((box.x - box.width / 2, box.y - box.height / 2))
        lower = self._pixel((box.x + box.width / 2, box.y + box.height / 2))
        ends = box.name.startswith("__")
        radius = (box.height / 2 if ends else 6) * self._zoom
        fill = HERE if box.name in self._at else ENDS if ends else FILL
        self._draw.rounded_rectangle((*upper, *lower), radius, fill=fill, outline=INK, width=round(1.2 * self._zoom))
        self._draw.text(self._pixel((box.x, box.y)), title(box.name), fill=INK, font=self._font, anchor="mm")

    def _line(self, path: list[Point], conditional: bool) -> None:
        for start, end in dashes(path) if conditional else pairwise(path):
            self._draw.line((self._pixel(start), self._pixel(end)), fill=EDGE, width=round(1.4 * self._zoom))
        self._arrow(path[-min(len(path), round(ARROW))], path[-1])

    def _arrow(self, before: Point, tip: Point) -> None:
        angle = atan2(tip[1] - before[1], tip[0] - before[0])
        wings = [angle + pi - 0.4, angle + pi + 0.4]
        corners = [tip, *((tip[0] + ARROW * cos(wing), tip[1] + ARROW * sin(wing)) for wing in wings)]
        self._draw.polygon([self._pixel(corner) for corner in corners], fill=EDGE)


def smooth(points: list[Point]) -> Iterator[Point]:
    """A curve through the points (Catmull-Rom), as the ends of pieces about one point long.

    A tangent is no longer than the shorter of the spans beside it, so that the curve does not swing out between a long
    span and a short one.
    """
    yield points[0]
    tangents = [
        _tangent(*around) for around in zip([points[0], *points], points, [*points[1:], points[-1]], strict=False)
    ]
    for (start, leaving), (end, arriving) in pairwise(zip(points, tangents, strict=True)):
        pieces = max(1, round(1.5 * dist(start, end)))
        for piece in range(1, pieces + 1):
            t = piece / pieces
            yield (
                _hermite(start[0], leaving[0], end[0], arriving[0], t),
                _hermite(start[1], leaving[1], end[1], arriving[1], t),
            )


def _tangent(before: Point, point: Point, after: Point) -> Point:
    across, down = (after[0] - before[0]) / 2, (after[1] - before[1]) / 2
    spans = [span for span in (dist(before, point), dist(point, after)) if span]
    length = hypot(across, down)
    scale = min(1.0, min(spans, default=0.0) / length) if length else 0.0
    return across * scale, down * scale


def _hermite(start: float, leaving: float, end: float, arriving: float, t: float) -> float:
    """A cubic between two numbers with these slopes, at `t` from 0 to 1."""
    swing = 2 * (start - end) + leaving + arriving
    return swing * t**3 + (3 * (end - start) - 2 * leaving - arriving) * t**2 + leaving * t + start


def dashes(path: list[Point]) -> Iterator[tuple[Point, Point]]:
    """The pieces of a path that a dashed line shows."""
    walked = 0.0
    for start, end in pairwise(path):
        if walked % (2 * DASH) < DASH:
            yield start, end
        walked += dist(start, end)
