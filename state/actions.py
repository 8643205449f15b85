"""What an agent, or the person, does (seed ``agent-hub.md``, Actions)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field
from typing_extensions import Self

from .action import Action


class CmdRunAction(Action):
    """Run a command in the shell."""

    tools = ("bash",)
    said = "Running command: {command}"
    action: Literal["run"] = "run"

    command: str = ""
    """What the shell is to run; empty to go on with an interactive command."""

    interactive: bool = False
    """Whether the command gets a terminal."""

    input: str | None = None
    """Line to type to the interactive command."""

    keys: str | None = None
    """Key to press in the interactive command."""

    restart: bool = False
    """Whether a fresh session begins before the command."""

    timeout: float | None = None
    """Seconds that it may take; None for the tool's default."""


class IPythonRunCellAction(Action):
    """Run Python code in the notebook kernel, or in a fresh process."""

    tools = ("python_execute",)
    absent = MappingProxyType({"stateful": False})
    said = "Running Python code: {code}"
    action: Literal["run_ipython"] = "run_ipython"

    code: str
    """The code of the cell."""

    stateful: bool = True
    """Whether it runs in the kernel that remembers earlier cells."""

    timeout: float | None = None
    """Seconds that it may take; None for the tool's default."""


class FileReadAction(Action):
    """Read a file."""

    tools = ("str_replace_editor",)
    fixed = MappingProxyType({"command": "view"})
    said = "Reading file: {path}"
    action: Literal["read"] = "read"

    path: str
    """The file, relative to the workspace or absolute inside it."""

    view_range: list[int] | None = None
    """First and last line, from 1; None for all."""


class FileWriteAction(Action):
    """Write a new file."""

    tools = ("str_replace_editor",)
    fixed = MappingProxyType({"command": "create"})
    renamed = MappingProxyType({"content": "file_text"})
    said = "Writing file: {path}"
    action: Literal["write"] = "write"

    path: str
    """The file, relative to the workspace or absolute inside it."""

    content: str
    """All of its text."""


class FileEditAction(Action):
    """Change a file that is there."""

    tools = ("str_replace_editor",)
    said = "Editing file: {path}"
    action: Literal["edit"] = "edit"

    command: Literal["str_replace", "insert", "undo_edit"]
    """How."""

    path: str
    """The file, relative to the workspace or absolute inside it."""

    old_str: str | None = None
    """The text to replace."""

    new_str: str | None = None
    """The text to put there."""

    insert_line: int | None = None
    """The line after which to insert."""


class BrowseURLAction(Action):
    """Get the content of a web page."""

    tools = ("browser_use", "web_fetch")
    said = "Browsing URL: {url}"
    action: Literal["browse"] = "browse"

    url: str
    """Address of the page."""

    browser: bool = True
    """Whether a browser opens it; else it is read as text, and no script of it runs."""

    start: int | None = None
    """Character to begin at, for a page that is read as text."""

    @property
    def tool(self) -> str:
        """`browser_use` or `web_fetch`."""
        return self.tools[0] if self.browser else self.tools[1]

    @classmethod
    def from_call(cls, tool: str, arguments: Mapping[str, Any], **head: Any) -> Self:
        """The action of a call of the browser that goes to an address, or of `web_fetch`."""
        own = dict(arguments)
        if tool == cls.tools[0] and own.pop("action", None) != "go_to_url":
            raise ValueError("the browser does something else")
        return cls.model_validate({**own, "browser": tool == cls.tools[0], **head})

    def call_arguments(self) -> dict[str, Any]:
        """The arguments of the call that does it."""
        given = {key: value for key, value in super().call_arguments().items() if key != "browser"}
        return {"action": "go_to_url", **given} if self.browser else given


class AgentDelegateAction(Action):
    """Give a task to another agent."""

    tools = ("delegate",)
    said = "Delegating to {agent}: {task}"
    action: Literal["delegate"] = "delegate"

    agent: str
    """Name of the agent."""

    task: str
    """What it is to do."""

    inputs: dict[str, Any] | None = None
    """What it is given for it."""


class AgentFinishAction(Action):
    """End the task."""

    tools = ("terminate",)
    renamed = MappingProxyType({"final_thought": "answer"})
    said = "Finished with {status}: {final_thought}"
    action: Literal["finish"] = "finish"

    status: Literal["success", "failure"] = "success"
    """Whether the task was done."""

    final_thought: str = ""
    """What the person, or the agent that gave the task, is told."""

    outputs: dict[str, Any] | None = None
    """What the agent that gave the task gets beside the text."""

    def call_arguments(self) -> dict[str, Any]:
        """The arguments of the call that does it."""
        return {"status": self.status, **super().call_arguments()}


class AgentRejectAction(Action):
    """Refuse the task."""

    tools = ("reject",)
    said = "Task is rejected: {reason}"
    action: Literal["reject"] = "reject"

    reason: str
    """Why."""

    outputs: dict[str, Any] | None = None
    """What the agent that gave the task gets beside the reason."""


class MessageAction(Action):
    """Say something. An agent that waits for the response asks the person."""

    tools = ("ask_human",)
    renamed = MappingProxyType({"content": "inquire"})
    said = "{content}"
    action: Literal["message"] = "message"

    content: str
    """What is said."""

    images: list[dict[str, Any]] = Field(default_factory=list)
    """Content blocks that are no text, such as images."""

    wait_for_response: bool = False
    """Whether the agent waits for the person's answer."""

    in_passing: bool = False
    """Whether the person said it while the agent worked: it sets no task."""

    @property
    def tool(self) -> str:
        """`ask_human` for a question; empty for words alone."""
        return self.tools[0] if self.wait_for_response else ""

    @classmethod
    def from_call(cls, tool: str, arguments: Mapping[str, Any], **head: Any) -> Self:
        """The question of a call of `ask_human`."""
        return super().from_call(tool, arguments, wait_for_response=True, **head)

    def call_arguments(self) -> dict[str, Any]:
        """The arguments of the call that asks; none for words alone."""
        return {"inquire": self.content} if self.wait_for_response else {}


class ToolCallAction(Action):
    """Call any tool."""

    said = "Calling {name}"
    action: Literal["call"] = "call"

    name: str
    """Name of the tool."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """The arguments, as they were written."""

    @property
    def tool(self) -> str:
        """Name of the tool."""
        return self.name

    def call_arguments(self) -> dict[str, Any]:
        """The arguments, as they were written."""
        return self.arguments
