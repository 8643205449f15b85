"""What happened beside an action: the model is told of it with the action's result."""

from __future__ import annotations

from typing_extensions import NotRequired, TypedDict


class Notice(TypedDict):
    """One thing that happened in the browser."""

    kind: str
    """`dialog`, `tab`, `download`, `chooser`, `crash` or `reopened`."""

    text: str
    """The sentence for the model."""

    path: NotRequired[str]
    """Of a download: the file, relative to the workspace."""


class Notices:
    """Notices since they were last taken."""

    def __init__(self) -> None:
        self._notices: list[Notice] = []

    def add(self, kind: str, text: str, *, path: str | None = None) -> None:
        """Remember one."""
        notice: Notice = {"kind": kind, "text": text}
        if path is not None:
            notice["path"] = path
        self._notices.append(notice)

    def drop(self, kind: str) -> None:
        """Forget those of a kind: what they ask for is done."""
        self._notices = [notice for notice in self._notices if notice["kind"] != kind]

    def take(self) -> list[Notice]:
        """All since the last time."""
        taken, self._notices = self._notices, []
        return taken
