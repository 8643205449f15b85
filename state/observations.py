"""What comes of actions (seed ``agent-hub.md``, Observations)."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from .event import MEMORY_CHARACTERS, NOWHERE, HistoryEvent, Source, shortened_text

HEAD = frozenset({"id", "source", "call_id", "cause", "content"})
"""Fields that stand at the top of an observation's data; the others are its `extras`."""

NOT_REMEMBERED = frozenset({"images", "page_state", "details"})
"""Extras that a model is not told of: they are large, or stand in the content."""


class Observation(HistoryEvent):
    """Any observation."""

    observation: str
    """Which observation it is."""

    source: Source = "environment"
    """Who it comes from."""

    cause: int = NOWHERE
    """Place in the history of the action that it answers."""

    content: str = ""
    """What the model is shown, as text."""

    tool: str = ""
    """Tool that gave it."""

    images: list[dict[str, Any]] = Field(default_factory=list)
    """Content blocks that are no text, such as images."""

    details: dict[str, Any] = Field(default_factory=dict)
    """What else the tool's artifact says. Plain JSON."""

    @property
    def message(self) -> str:
        """What came of the action, in words for a person."""
        return self.content

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, with a text for people under `message`; `observation_from_dict` reads it."""
        given = self.model_dump(exclude_unset=True)
        head = {"id": self.id, "source": self.source, "message": self.message, "cause": self.cause}
        ids = {"call_id": self.call_id} if "call_id" in given else {}
        own = {key: given[key] for key in given if key not in HEAD and key != "observation"}
        return {**head, **ids, "observation": self.observation, "content": self.content, "extras": own}

    def to_memory(self, max_characters: int = MEMORY_CHARACTERS) -> dict[str, Any]:
        """What a model is told of it: its kind, its content and its extras, cut and without images."""
        own = {key: value for key, value in self.to_dict()["extras"].items() if key not in NOT_REMEMBERED}
        content = shortened_text(self.content, max_characters)
        return {"observation": self.observation, "content": content, "extras": own}


class CmdOutputObservation(Observation):
    """What a command or a cell of code wrote."""

    observation: Literal["run"] = "run"

    exit_code: int | None = None
    """None where nothing ended: it runs on, or was stopped."""

    running: bool = False
    """Whether an interactive command still runs."""

    timed_out: bool = False
    """Whether it was stopped because its time was over."""

    truncated: bool = False
    """Whether the content leaves output out."""

    output_file: str | None = None
    """Path, relative to the workspace, of the whole output where the content is truncated."""

    figures: int = 0
    """Figures that a cell drew."""

    kernel_lost: bool = False
    """Whether the kernel ended with the cell."""

    files: list[str] = Field(default_factory=list)
    """Files that a cell wrote, relative to the workspace."""


class BrowserOutputObservation(Observation):
    """What a browser, or the web, shows."""

    observation: Literal["browse"] = "browse"

    url: str = ""
    """Address of the page."""

    title: str = ""
    """Title of the page, where it is known."""

    browser_action: str = ""
    """What the browser did; empty for a page that was read without one."""

    notices: list[dict[str, Any]] = Field(default_factory=list)
    """What happened beside it: dialogs, tabs, downloads."""

    page_state: dict[str, Any] | None = None
    """The state of the page, where the browser was asked for it."""


class FileReadObservation(Observation):
    """What stands in a file."""

    observation: Literal["read"] = "read"

    path: str
    """The file, relative to the workspace."""


class FileWriteObservation(Observation):
    """A file was written, changed or taken back."""

    observation: Literal["write"] = "write"

    path: str
    """The file, relative to the workspace."""

    command: str = "create"
    """How: `create`, `str_replace`, `insert` or `undo_edit`."""


class ErrorObservation(Observation):
    """The action failed; the content says why and what to do."""

    observation: Literal["error"] = "error"


class SuccessObservation(Observation):
    """The action was done, and there is nothing special about what came of it."""

    observation: Literal["success"] = "success"


class AgentDelegateObservation(Observation):
    """What came of a task that another agent was given."""

    observation: Literal["delegate"] = "delegate"

    agent: str = ""
    """Name of the agent."""

    status: str = ""
    """How its run ended."""

    outputs: dict[str, Any] = Field(default_factory=dict)
    """What it gives beside the text."""
