"""The interactive elements that a model was shown, by index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.async_api import ElementHandle, Frame
from playwright.async_api import Error as PlaywrightError

from ...state.errors import ToolFailure
from .capture import Capture
from .scripts.library import function


@dataclass(frozen=True)
class Element:
    """One interactive element of a frame."""

    frame: Frame
    token: str
    """Identity of the frame's document."""

    number: int
    """Number of the element in that document."""

    tag: str
    attributes: dict[str, Any]
    text: str = ""
    """What it says: the text inside."""


class ElementTable:
    """Indices of elements. An element keeps its index until the tab shows another document."""

    def __init__(self) -> None:
        self._document = ""
        self._indices: dict[tuple[str, int], int] = {}
        self._elements: dict[int, Element] = {}
        self._fresh: frozenset[int] = frozenset()
        self._next = 0

    def __len__(self) -> int:
        return len(self._elements)

    def __contains__(self, index: int) -> bool:
        return index in self._elements

    def update(self, capture: Capture) -> None:
        """Take the elements of a capture; those of the last one that are not in it are forgotten."""
        document = capture.main["token"]
        another = document != self._document
        if another:
            self._document, self._indices, self._next = document, {}, 0
        known = self._next
        self._elements = {}
        self._add(capture, capture.page.main_frame)
        self._fresh = frozenset() if another else frozenset(range(known, self._next))

    def index(self, token: str, number: int) -> int:
        """Index of an element of the last capture."""
        return self._indices[token, number]

    def is_fresh(self, index: int) -> bool:
        """Whether the element came up since the capture before, on the same document."""
        return index in self._fresh

    def of(self, frame: Frame) -> list[tuple[int, int]]:
        """Number and index of each element of a frame."""
        return [(element.number, index) for index, element in self._elements.items() if element.frame is frame]

    def element(self, index: int) -> Element:
        """The element of an index.

        Raises:
            ToolFailure: the last state has no such index.
        """
        if index not in self._elements:
            raise ToolFailure(f"there is no element [{index}] in the last state: take a fresh state")
        return self._elements[index]

    async def handle(self, index: int) -> ElementHandle:
        """Playwright's handle of an element.

        Raises:
            ToolFailure: the last state has no such index, or the element is gone.
        """
        element = self.element(index)
        where = {"token": element.token, "number": element.number}
        try:
            found = await element.frame.evaluate_handle(function("resolve", "resolve"), where)
        except PlaywrightError as error:
            raise _gone(index) from error
        handle = found.as_element()
        if handle is None:
            raise _gone(index)
        return handle

    def _add(self, capture: Capture, frame: Frame) -> None:
        collected = capture.frames.get(frame)
        if collected is None:
            return
        said = _texts(collected["items"])
        for kind, number, *rest in collected["items"]:
            if kind == "element":
                element = Element(frame, collected["token"], number, rest[0], rest[1], said.get(number, ""))
                self._elements[self._index(element)] = element
            elif kind == "frame" and (frame, number) in capture.children:
                self._add(capture, capture.children[frame, number])

    def _index(self, element: Element) -> int:
        key = element.token, element.number
        if key not in self._indices:
            self._indices[key] = self._next
            self._next += 1
        return self._indices[key]


def _texts(items: list[list[Any]]) -> dict[int, str]:
    said: dict[int, str] = {}
    for item in items:
        if item[0] == "text" and item[3]:
            said[item[3]] = f"{said.get(item[3], '')} {item[1]}".strip()
    return said


def _gone(index: int) -> ToolFailure:
    return ToolFailure(f"element [{index}] is gone, the page changed: take a fresh state")
