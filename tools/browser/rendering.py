"""A capture as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Frame

from .capture import Capture
from .elements import ElementTable

INDENT = "  "
SEEN, NEAR = 0, 1
NEW_LINE, SAME_LINE, NEXT_CELL = 0, 1, 2
SEPARATORS = {SAME_LINE: " ", NEXT_CELL: " | "}


@dataclass
class Line:
    """One line of a page's text."""

    text: str
    zone: int
    """0 where it shows, 1 where it is within the margin."""

    interactive: bool = False
    """Whether it has an index."""

    owner: int = 0
    """Number of the element whose text it may take in."""


def render(capture: Capture, table: ElementTable) -> list[Line]:
    """The page in reading order, one line for each interactive element and each run of text."""
    return _Renderer(capture, table).frame(capture.page.main_frame, "", SEEN)


def format_attributes(attributes: Mapping[str, Any]) -> str:
    """Attributes as HTML writes them: flags by name alone, false ones not at all."""
    parts = []
    for name, value in attributes.items():
        if value is True:
            parts.append(f" {name}")
        elif value is not False:
            quoted = str(value).replace('"', "'")
            parts.append(f' {name}="{quoted}"')
    return "".join(parts)


class _Renderer:
    def __init__(self, capture: Capture, table: ElementTable) -> None:
        self._capture = capture
        self._table = table

    def frame(self, frame: Frame, indent: str, zone: int) -> list[Line]:
        collected = self._capture.frames.get(frame)
        if collected is None:
            return [Line(f"{indent}(this frame does not answer)", zone)]
        lines: list[Line] = []
        indents = {0: indent}
        for kind, *item in collected["items"]:
            if kind == "text":
                self._text(lines, indents, *item, zone=zone)
            elif kind == "element":
                self._element(lines, indents, collected["token"], *item, zone=zone)
            elif kind == "scroll":
                _, above, below, inside, near = item
                text = f"{indents[inside]}|scrolls: {above} px above, {below} px below|"
                lines.append(Line(text, max(zone, near)))
            else:
                self._inner_frame(lines, indents, frame, *item, zone=zone)
        return lines

    def _text(
        self, lines: list[Line], indents: dict[int, str], words: str, joint: int, inside: int, near: int, *, zone: int
    ) -> None:
        last = lines[-1] if lines else None
        zone = max(zone, near)
        if last is not None and inside and last.owner == inside:
            last.text += words if last.text.endswith(">") else f" {words}"
        elif last is not None and joint != NEW_LINE and not last.interactive and last.owner == inside:
            last.text += SEPARATORS[joint] + words
            last.zone = min(last.zone, zone)
        else:
            lines.append(Line(indents[inside] + words, zone, owner=inside))

    def _element(
        self,
        lines: list[Line],
        indents: dict[int, str],
        token: str,
        number: int,
        tag: str,
        attributes: Mapping[str, Any],
        inside: int,
        near: int,
        *,
        zone: int,
    ) -> None:
        index = self._table.index(token, number)
        zone = max(zone, near)
        mark = "*" if self._table.is_fresh(index) else ""
        flags = " offscreen" if zone == NEAR else ""
        text = f"{indents[inside]}{mark}[{index}]<{tag}{format_attributes(attributes)}{flags}>"
        lines.append(Line(text, zone, interactive=True, owner=number))
        indents[number] = indents[inside] + INDENT

    def _inner_frame(
        self,
        lines: list[Line],
        indents: dict[int, str],
        frame: Frame,
        number: int,
        _region: Any,
        _origin: Any,
        inside: int,
        near: int,
        *,
        zone: int,
    ) -> None:
        child = self._capture.children.get((frame, number))
        zone = max(zone, near)
        lines.append(Line(f"{indents[inside]}|frame {child.url if child else ''}|", zone))
        if child is not None:
            lines.extend(self.frame(child, indents[inside] + INDENT, zone))
